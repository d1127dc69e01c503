import { trimmed } from '../bounded.ts';

export const emailAddress = trimmed(254).min(1);
