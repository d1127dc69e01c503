/**
 * Reads the dimensions of an image from its headers; nothing is decoded. Offsets and lengths are defined by the
 * formats.
 */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

export interface ImageSize {
  width: number;
  height: number;
  frames: number;
}

export function imageTypeOf(bytes: Buffer): ImageType | undefined {
  const start = bytes.subarray(0, 12).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif';
  if (start.startsWith('RIFF') && start.endsWith('WEBP')) return 'image/webp';
  return undefined;
}

const readers: Record<ImageType, (bytes: Buffer) => ImageSize | undefined> = {
  'image/png': pngSize,
  'image/jpeg': jpegSize,
  'image/gif': gifSize,
  'image/webp': webpSize,
};

/** Undefined if the headers are damaged or end too early. */
export function imageSize(bytes: Buffer, type: ImageType): ImageSize | undefined {
  try {
    const size = readers[type](bytes);
    return size && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (error) {
    // A read past the end.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Chunks: length, name, data, checksum. `acTL`, before the image data, contains the number of frames. */
function pngSize(bytes: Buffer): ImageSize | undefined {
  if (nameAt(bytes, 12) !== 'IHDR') return undefined;
  const size = { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), frames: 1 };
  for (let at = 33; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const name = nameAt(bytes, at + 4);
    if (name === 'acTL') size.frames = Math.max(1, bytes.readUInt32BE(at + 8));
    if (name === 'IDAT') break;
  }
  return size;
}

/** Segments: marker, length, data. The frame header precedes the first scan. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  for (let at = 2; ; ) {
    if (bytes.readUInt8(at) !== 0xff) return undefined;
    const marker = bytes.readUInt8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5), frames: 1 };
    if (marker === 0xd9 || marker === 0xda) return undefined;
    // Fill bytes, and markers without data.
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) at += 2;
    else at += 2 + bytes.readUInt16BE(at + 2);
  }
}

/** A frame may be larger than the logical screen. */
function gifSize(bytes: Buffer): ImageSize | undefined {
  const size = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8), frames: 0 };
  let at = 13 + colorTableLength(bytes.readUInt8(10));
  while (at < bytes.length && bytes.readUInt8(at) !== 0x3b) {
    const block = bytes.readUInt8(at);
    if (block === 0x21) at = afterSubBlocks(bytes, at + 2);
    else if (block === 0x2c) {
      size.frames++;
      size.width = Math.max(size.width, bytes.readUInt16LE(at + 5));
      size.height = Math.max(size.height, bytes.readUInt16LE(at + 7));
      at = afterSubBlocks(bytes, at + 11 + colorTableLength(bytes.readUInt8(at + 9)));
    } else return undefined;
  }
  return size.frames === 0 ? undefined : size;
}

const colorTableLength = (flags: number): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 0x07) + 1));

function afterSubBlocks(bytes: Buffer, start: number): number {
  let at = start;
  for (let length = bytes.readUInt8(at); length !== 0; length = bytes.readUInt8(at)) at += 1 + length;
  return at + 1;
}

/** Reads one of the three headers of WebP. An animation has a chunk for each frame. Chunks have even lengths. */
function webpSize(bytes: Buffer): ImageSize | undefined {
  const name = nameAt(bytes, 12);
  if (name === 'VP8 ')
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff, frames: 1 };
  if (name === 'VP8L') {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, frames: 1 };
  }
  if (name !== 'VP8X') return undefined;
  let frames = 0;
  for (let at = 12; at + 8 <= bytes.length; ) {
    if (nameAt(bytes, at) === 'ANMF') frames++;
    const length = bytes.readUInt32LE(at + 4);
    at += 8 + length + (length % 2);
  }
  return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1, frames: Math.max(1, frames) };
}

const nameAt = (bytes: Buffer, at: number): string => bytes.toString('latin1', at, at + 4);
