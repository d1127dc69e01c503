import { base64 } from '../../model/bounded.ts';
import { text } from '../../model/param.ts';

/** An uploaded file, in base64. The gateway takes it from the part of the form that contains a file. */
export const file = text(base64(8 * 1024 * 1024));
