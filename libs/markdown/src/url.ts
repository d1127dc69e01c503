const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
/** Excludes `file`: on some systems such a link sends the reader's credentials to another machine. */
const SAFE_SCHEMES = new Set(['http', 'https', 'ftp', 'mailto', 'sms', 'tel', 'bitcoin']);

/**
 * The target of a link; undefined if linking it is not permitted. Without a scheme it is a path of this server, a mail
 * address, or HTTP.
 */
export function safeUrl(given: string): string | undefined {
  const url = given
    .trim()
    .replaceAll(' ', '%20')
    .replace(/[\t\r\n]/g, '');
  if (url === '') return undefined;
  const scheme = SCHEME.exec(url)?.[1];
  if (scheme !== undefined) {
    const name = scheme.toLowerCase();
    return SAFE_SCHEMES.has(name) ? name + url.slice(scheme.length).replace(/#$/, '').replace(/\?$/, '') : undefined;
  }
  if (/^\/(?![/\\])/.test(url) || (url.startsWith('#') && url.length > 1)) return url;
  if (/^[/\\?#]/.test(url)) return undefined;
  return /^[^;?#]*@/.test(url) && !url.startsWith('//') ? `mailto:${url}` : safeUrl(`http://${url}`);
}

/** Like `safeUrl`, for an address in a text that may contain character references, which browsers would read. */
export const safeTarget = (typed: string): string | undefined => safeUrl(withoutReferences(typed));

/**
 * Named character references that are resolved. Others stay in the text; browsers do not resolve them, because the
 * ampersands of an address are escaped in HTML.
 */
const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g;

const withoutReferences = (typed: string): string =>
  typed.replace(REFERENCE, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code <= 0x10ffff && /[^\p{Cc}\p{Cs}]/u.test(String.fromCodePoint(code)) ? String.fromCodePoint(code) : whole;
  });

/** Links to this server's own views and files become relative. */
export function relativeUrl(url: string, realmUrl: string): string {
  const isOwn =
    realmUrl !== '' &&
    (url.startsWith(`${realmUrl}/#`) || (url.startsWith(`${realmUrl}/user_uploads/`) && !isOwnPage(url, realmUrl)));
  return isOwn ? url.slice(realmUrl.length + 1) : url;
}

/**
 * Whether browsers send an address to this server, and not for an uploaded file. They resolve dot segments, also those of
 * percent-encoded dots, and take backslashes for slashes.
 */
export function isOwnPage(address: string, realmUrl: string): boolean {
  const base = realmUrl || 'https://own.invalid';
  const parsed = URL.parse(address, base);
  return parsed?.host === URL.parse(base)?.host && !parsed?.pathname.startsWith('/user_uploads/');
}
