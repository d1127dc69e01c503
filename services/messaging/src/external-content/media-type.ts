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
  const type = SIGNATURES.find(([offset, bytes]) => start.startsWith(bytes, offset))?.[2] ?? typeOfFrames(content);
  const isContainer = type === 'video/mp4' || type === 'video/webm' || type === 'audio/ogg';
  if (type === undefined || (isContainer ? kind === 'image' : !type.startsWith(kind))) return undefined;
  return isContainer ? type.replace(/^\w+/, kind) : type;
}

/** Audio without a container: frames of MPEG layer III or of AAC, of which the fields of the first header are valid. */
function typeOfFrames(content: Buffer): string | undefined {
  if (content.length < 7 || content[0] !== 0xff) return undefined;
  if (isMp3Frame(content)) return 'audio/mpeg';
  return isAdtsFrame(content) ? 'audio/aac' : undefined;
}

const bits = (content: Buffer, at: number, shift: number, mask: number): number => ((content[at] ?? 0) >> shift) & mask;

function isMp3Frame(content: Buffer): boolean {
  const [version, layer] = [bits(content, 1, 3, 3), bits(content, 1, 1, 3)];
  const [bitrate, rate, emphasis] = [bits(content, 2, 4, 15), bits(content, 2, 2, 3), bits(content, 3, 0, 3)];
  // The excluded values are reserved, or state no bitrate.
  const isValid = version !== 1 && bitrate !== 0 && bitrate !== 15 && rate !== 3 && emphasis !== 2;
  return bits(content, 1, 5, 7) === 7 && layer === 1 && isValid;
}

const isAdtsSync = (content: Buffer, at: number): boolean =>
  content[at] === 0xff && bits(content, at + 1, 0, 0xf6) === 0xf0;

/** The next frame, if the content has one, must begin where this one ends. */
function isAdtsFrame(content: Buffer): boolean {
  const length = (bits(content, 3, 0, 3) << 11) | (bits(content, 4, 0, 255) << 3) | bits(content, 5, 5, 7);
  const isValid = bits(content, 2, 2, 15) <= 12 && length > (bits(content, 1, 0, 1) === 1 ? 7 : 9);
  return isAdtsSync(content, 0) && isValid && (content.length < length + 2 || isAdtsSync(content, length));
}
