import { expect, test } from 'vitest';
import { keepField, keptField } from './kept-fields.ts';

test('a field of a message is kept until it is empty or closed', () => {
  keepField('1 option', 'soup');
  keepField('1 spoiler', true);
  expect([keptField('1 option'), keptField('1 spoiler'), keptField('2 option')]).toEqual(['soup', true, undefined]);
  keepField('1 option', '');
  keepField('1 spoiler', false);
  expect([keptField('1 option'), keptField('1 spoiler')]).toEqual([undefined, undefined]);
});

test('only the most recently changed fields of messages are kept', () => {
  for (let id = 1; id <= 200; id++) keepField(`${id} option`, 'soup');
  keepField('1 option', 'salad');
  keepField('201 option', 'soup');
  expect([1, 2, 3, 201].map((id) => keptField(`${id} option`))).toEqual(['salad', undefined, 'soup', 'soup']);
});
