import { base64 } from '../../model/bounded.ts';
import { text } from '../../model/param.ts';

/** The bytes of a picture in base64. The gateway takes them from the part of the form that contains a file. */
export const pictureBase64 = base64(8 * 1024 * 1024);

/** An uploaded picture. */
export const file = text(pictureBase64);
