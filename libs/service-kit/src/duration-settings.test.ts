import { expect, test } from 'vitest';
import { durationSetting, timerSetting } from './duration-settings.ts';

test('the longest time of a setting for a timer, with the variation of `repeat`, does not end at once', () => {
  for (const [unit, ms] of [
    ['milliseconds', 1],
    ['seconds', 1_000],
    ['minutes', 60_000],
    ['hours', 3_600_000],
  ] as const) {
    const most = Math.floor((2 ** 31 - 1) / 1.1 / ms);
    const longest = Math.floor((20 * 86_400_000) / ms);
    expect(longest).toBeLessThan(most);
    expect(timerSetting(unit).parse(String(longest))).toBe(longest);
    expect(timerSetting(unit).safeParse(String(longest + 1)).success, unit).toBe(false);
    expect(durationSetting(unit).parse(String(most + 1))).toBe(most + 1);
  }
});

test('no time of a setting is longer than an integer of seconds, and none has a fraction', () => {
  expect(durationSetting('seconds').safeParse('2147483648').success).toBe(false);
  expect(durationSetting('hours').safeParse('596524').success).toBe(false);
  expect(timerSetting('seconds').safeParse('1.5').success).toBe(false);
});
