import { z } from 'zod';

export interface Mail {
  subject: string;
  text: string;
}

export const addressedMail = z.object({ to: z.string(), subject: z.string(), text: z.string() });
export type AddressedMail = z.infer<typeof addressedMail>;
