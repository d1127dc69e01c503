import { trimmedNonEmpty } from '../bounded.ts';

export const emailAddress = trimmedNonEmpty(254);
