import { expect, test } from 'vitest';
import { topicPlace } from '../state/place.ts';
import { type Directory, titleOf } from './names.ts';

test('a name that turns the direction of text does not turn the names beside it', () => {
  const title = (channel: string, topic: string): string =>
    titleOf({ channels: new Map([[3, { name: channel }]]) } as unknown as Directory, topicPlace(3, topic));
  expect(title('general', 'plans')).toBe('#general › plans');
  expect(title('evil\u202e', 'plans')).toBe('#\u2068evil\u202e\u2069 › plans');
  expect(title('evil\u2069\u202e', 'שלום')).toBe('#\u2068evil\u202e\u2069 › \u2068שלום\u2069');
});
