import { trimmedNonEmpty } from '../model/bounded.ts';

export const emailAddress = trimmedNonEmpty(254);
