import { expect, test } from 'vitest';
import { apartFromRequest, besideWrite, inWrite, refuseUnclaimedUnit } from './beside-write.ts';

function isRefused(): boolean {
  try {
    refuseUnclaimedUnit();
    return false;
  } catch {
    return true;
  }
}

test('the request of a write cannot open a unit that its key does not claim', () => {
  expect(inWrite('join', isRefused)).toBe(true);
  // A timer, and a handler whose effect nobody claims.
  expect(isRefused()).toBe(false);
  expect(inWrite(undefined, isRefused)).toBe(false);
});

test('work that is safe to repeat, or that belongs to no request, may open units', () => {
  expect(inWrite('update-realm', () => besideWrite(isRefused))).toBe(false);
  expect(inWrite('update-realm', () => apartFromRequest(isRefused))).toBe(false);
});
