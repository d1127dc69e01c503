import { expect, test } from 'vitest';
import { edit, editedText, keepEditedText, takesFocus } from './editing.ts';

test('the unsaved text of a message is kept while another message is edited', () => {
  edit(1);
  keepEditedText(1, 'unsaved');
  edit(2);
  keepEditedText(2, 'other');
  edit(1);
  expect([editedText(1), editedText(2)]).toEqual(['unsaved', 'other']);
  keepEditedText(1, undefined);
  keepEditedText(2, undefined);
  expect([editedText(1), editedText(2)]).toEqual([undefined, undefined]);
});

test('only the most recently changed texts are kept', () => {
  for (let id = 1; id <= 50; id++) keepEditedText(id, `text ${id}`);
  keepEditedText(1, 'changed');
  keepEditedText(51, 'text 51');
  expect([editedText(1), editedText(2), editedText(3), editedText(51)]).toEqual([
    'changed',
    undefined,
    'text 3',
    'text 51',
  ]);
  for (let id = 1; id <= 51; id++) keepEditedText(id, undefined);
});

test('a text box takes the focus once for each edit', () => {
  edit(1);
  expect([takesFocus(2), takesFocus(1), takesFocus(1)]).toEqual([false, true, false]);
  // A key that asks for the same edit again.
  edit(1);
  expect(takesFocus(1)).toBe(false);
  edit(2);
  edit(1);
  expect(takesFocus(1)).toBe(true);
  edit(undefined);
  expect(takesFocus(1)).toBe(false);
});
