import { base64 } from '../../model/bounded.ts';
import { text } from '../../model/param.ts';

/** An uploaded file, in base64; the gateway makes it of whatever part of a form holds a file. */
export const file = text(base64(8 * 1024 * 1024));
