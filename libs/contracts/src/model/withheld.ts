/**
 * Fields of one member of the body that a gateway requests from the event's owner when it delivers to a receiver
 * (`reveal`). The owner checks again whether this receiver may see them.
 */
export interface Withheld {
  /** The member of the body. */
  in: string;
  kind: (typeof withheldKinds)[number];
  id: number;
  fields: string[];
}
export const withheldKinds = ['bot'] as const;
