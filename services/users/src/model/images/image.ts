import { badRequest, ChatError, type Page } from '@natter/contracts';
import { type JsonPieces, pageOfBytes } from '@natter/service-kit';
import { imageSize, imageTypeOf } from './image-header.ts';

export interface Image {
  contentType: string;
  bytes: Buffer;
}

const maxMib = 5;
/** Total of all frames: every client that shows the image decodes them. */
const maxPixels = 90_000_000;

/**
 * An uploaded image; its type is determined by its first bytes, not by its name. Formats that could run scripts are
 * refused.
 */
export function checkedImage(base64: string): Image {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > maxMib * 1024 * 1024)
    throw badRequest(`Uploaded file is larger than the allowed limit of ${maxMib} MiB`);
  const contentType = imageTypeOf(bytes);
  const size = contentType === undefined ? undefined : imageSize(bytes, contentType);
  if (contentType === undefined || size === undefined) throw new ChatError('BAD_IMAGE', 'Invalid image format');
  if (size.width * size.height * size.frames > maxPixels) throw new ChatError('BAD_IMAGE', 'Image size exceeds limit.');
  return { contentType, bytes };
}

/** The URL changes with the image, so responses may be cached. */
export const imagePage = ({ contentType, bytes }: Image): Promise<JsonPieces> =>
  pageOfBytes({ status: 200, content_type: contentType, cache_seconds: 31_536_000 }, bytes);

export const noImage: Page = {
  status: 404,
  content_type: 'text/plain; charset=utf-8',
  body: 'Not found\n',
  is_base64: false,
  cache_seconds: 0,
};

export const redirect = (location: string): Page => ({
  status: 302,
  content_type: 'text/plain; charset=utf-8',
  body: '',
  is_base64: false,
  location,
  cache_seconds: 0,
});
