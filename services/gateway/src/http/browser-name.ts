/**
 * The first match counts. The `User-Agent` of a browser often contains names of other browsers too: Edge also names
 * Chrome and Safari, for example. So each browser stands before those that it also names.
 */
const browsers: readonly [pattern: RegExp, name: string][] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|Chromium|HeadlessChrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const systems: readonly [pattern: RegExp, name: string][] = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** A short name for the browser and its system, such as "Firefox on Linux"; "Mozilla" if neither is recognized. */
export function browserNameOf(userAgent: string): string {
  const [browser, system] = [browsers, systems].map((all) => all.find(([pattern]) => pattern.test(userAgent))?.[1]);
  if (browser === undefined) return system ?? 'Mozilla';
  return system === undefined ? browser : `${browser} on ${system}`;
}
