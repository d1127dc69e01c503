/** The types of media that are shown, with their first bytes. Vector images are excluded, because they can contain scripts. */
const SIGNATURES: readonly (readonly [offset: number, bytes: string, type: string])[] = [
  [0, '\x89PNG\r\n\x1a\n', 'image/png'],
  [0, '\xff\xd8\xff', 'image/jpeg'],
  [0, 'GIF87a', 'image/gif'],
  [0, 'GIF89a', 'image/gif'],
  [8, 'WEBP', 'image/webp'],
  [0, 'BM', 'image/bmp'],
  [4, 'ftypavif', 'image/avif'],
  [4, 'ftyp', 'video/mp4'],
  [0, '\x1a\x45\xdf\xa3', 'video/webm'],
  [0, 'OggS', 'audio/ogg'],
  [0, 'ID3', 'audio/mpeg'],
  [0, 'fLaC', 'audio/flac'],
  [8, 'WAVE', 'audio/wav'],
];

/** The type of the content; undefined for another type, or if the stated type is of another kind (image, video, audio). */
export function mediaTypeOf(content: Buffer, stated: string): string | undefined {
  const kind = /^(image|video|audio)\//i.exec(stated.trim())?.[1]?.toLowerCase();
  if (kind === undefined) return undefined;
  const start = content.subarray(0, 16).toString('latin1');
  const type = SIGNATURES.find(([offset, bytes]) => start.startsWith(bytes, offset))?.[2];
  const isContainer = type === 'video/mp4' || type === 'video/webm' || type === 'audio/ogg';
  if (type === undefined || (isContainer ? kind === 'image' : !type.startsWith(kind))) return undefined;
  return isContainer ? type.replace(/^\w+/, kind) : type;
}
