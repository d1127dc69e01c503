import { emptyContext, isLight, LIGHT_STEPS, render, StepLimit } from '@natter/markdown/render';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderLight } from './jobs.ts';

const light = (content: string) => renderLight({ content, context: emptyContext, topic: '' })?.html;
const marks = [
  '[',
  '![',
  '](',
  '*',
  '**',
  '_',
  '`',
  '<',
  '<time:',
  '&',
  '\\\\',
  '@**',
  '#**',
  ':',
  'http://a.',
  '> ',
  '- ',
  '\n',
  '|',
];

test('text that counts as light renders within the allowed steps, or is left to the threads', () => {
  const words = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '1'), maxLength: 40 });
  const content = fc
    .tuple(fc.array(fc.tuple(fc.constantFrom(...marks), words), { maxLength: 90 }), words)
    .map(([pieces, end]) => pieces.flat().join('').slice(0, 1_900) + end);
  fc.assert(
    fc.property(content, fc.integer({ min: 1, max: LIGHT_STEPS }), (text, steps) => {
      fc.pre(isLight(text));
      let limited: string | undefined;
      try {
        limited = render(text, emptyContext, steps).html;
      } catch (error) {
        expect(error).toBeInstanceOf(StepLimit);
      }
      const whole = render(text, emptyContext).html;
      // A limit ends the rendering; it never changes the result.
      expect(limited ?? whole).toBe(whole);
      expect(light(text) ?? whole).toBe(whole);
    }),
    { numRuns: 500 },
  );
});

test('steps grow with the length and with the places where rules may start', () => {
  const takes = (content: string, steps: number): boolean => {
    try {
      render(content, emptyContext, steps);
      return true;
    } catch {
      return false;
    }
  };
  expect(takes('a'.repeat(1_000), 1_000)).toBe(false);
  expect(takes(`${'*a '.repeat(30)}${'a'.repeat(1_000)}`, 20_000)).toBe(false);
  expect(takes(`${'[ '.repeat(50)}${'a'.repeat(1_000)}`, 20_000)).toBe(false);
});

test('usual messages are rendered at once, and deliberately slow text is not', () => {
  expect(light('Hello **world**, see [this](https://a.example) and `code`')).toContain('<strong>world</strong>');
  expect(light('It is a **usual** text. '.repeat(16))).toContain('<strong>usual</strong>');
  expect(light('word '.repeat(400))).toContain('word word');
  for (const slow of ['<time:', '> ', '- ', '> - '])
    expect([slow, light(slow.repeat(100 / slow.replace(/[a-z ]/g, '').length).padEnd(2_000, 'a'))]).toEqual([
      slow,
      undefined,
    ]);
});
