/** The text of an error, as it is shown to the reader. */
export const problemOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
