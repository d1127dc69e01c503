/** Of browsers that also name others, the own name is before. */
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

/** A short name for the browser and its system, such as "Firefox on Linux"; "Mozilla" if it tells neither. */
export function browserNameOf(userAgent: string): string {
  const [browser, system] = [browsers, systems].map((all) => all.find(([pattern]) => pattern.test(userAgent))?.[1]);
  if (browser === undefined) return system ?? 'Mozilla';
  return system === undefined ? browser : `${browser} on ${system}`;
}
