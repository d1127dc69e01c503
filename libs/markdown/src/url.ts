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

/** Links to this server's own views and files become relative. */
export function relativeUrl(url: string, realmUrl: string): string {
  const isOwn = realmUrl !== '' && (url.startsWith(`${realmUrl}/#`) || url.startsWith(`${realmUrl}/user_uploads/`));
  return isOwn ? url.slice(realmUrl.length + 1) : url;
}
