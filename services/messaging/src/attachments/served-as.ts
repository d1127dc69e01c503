/** Types that browsers display without running them as a script of this origin. */
const shown = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
  'video/mp4',
  'video/webm',
  'video/quicktime',
  'audio/mpeg',
  'audio/mp4',
  'audio/aac',
  'audio/ogg',
  'audio/wav',
  'audio/x-wav',
  'audio/webm',
  'audio/flac',
  'application/pdf',
  'text/plain',
]);

/** A map instead of an object, because an extension may be `constructor` or another inherited property. */
const byExtension = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['avif', 'image/avif'],
  ['bmp', 'image/bmp'],
  ['mp4', 'video/mp4'],
  ['webm', 'video/webm'],
  ['mov', 'video/quicktime'],
  ['mp3', 'audio/mpeg'],
  ['m4a', 'audio/mp4'],
  ['ogg', 'audio/ogg'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['log', 'text/plain'],
  ['md', 'text/plain'],
  ['zip', 'application/zip'],
]);

const plainType = /^[a-z]+\/[a-z0-9][a-z0-9.+-]{0,80}$/;

const saysNothing = new Set(['application/octet-stream', 'text/plain']);

/**
 * The type of an upload: the one of its form part, otherwise derived from its name. A part without a type counts as
 * plain text.
 */
export function typeOf(given: string, name: string): string {
  const stated = given.split(';')[0]?.trim().toLowerCase() ?? '';
  const isTelling = plainType.test(stated) && !saysNothing.has(stated);
  return isTelling
    ? stated
    : (byExtension.get(name.split('.').at(-1)?.toLowerCase() ?? '') ?? 'application/octet-stream');
}

/** How a file is served: types that could run scripts are downloaded with a harmless type, never displayed. */
export function servedAs(contentType: string, name: string): { content_type: string; disposition?: string } {
  if (shown.has(contentType))
    return { content_type: contentType === 'text/plain' ? 'text/plain; charset=utf-8' : contentType };
  const mayRun = /html|xml|svg|script|css|flash|multipart|message\//.test(contentType);
  return {
    content_type: mayRun ? 'application/octet-stream' : contentType,
    disposition: `attachment; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)}`,
  };
}
