import { expect, test } from 'vitest';
import { browserNameOf } from './browser-name.ts';

const like = 'AppleWebKit/537.36 (KHTML, like Gecko)';

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${like} Chrome/140.0.0.0 Safari/537.36`, 'Chrome on Windows'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${like} Chrome/140.0.0.0 Safari/537.36 Edg/140.0`, 'Edge on Windows'],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${like} Chrome/140.0.0.0 Safari/537.36`, 'Chrome on ChromeOS'],
  [`Mozilla/5.0 (Linux; Android 10; K) ${like} Chrome/140.0.0.0 Mobile Safari/537.36`, 'Chrome on Android'],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${like} Version/18.0 Safari/605.1.15`, 'Safari on macOS'],
  [`Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${like} CriOS/140.0 Mobile Safari/604.1`, 'Chrome on iOS'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${like} HeadlessChrome/140.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  ['Mozilla/5.0 (X11; Linux x86_64)', 'Linux'],
  ['Mozilla/5.0', 'Mozilla'],
])('the browser that calls itself %j is called %j', (userAgent, name) => {
  expect(browserNameOf(userAgent)).toBe(name);
});
