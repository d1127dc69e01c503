/** The beginning of a status, which is shown after the name of its sender. */
const command = '/me ';

export const isStatusText = (text: string): boolean => text.startsWith(command);

/** The text without `/me`, to follow the name of the sender. A search may have marked the word of the command. */
export const afterName = (html: string): string => html.replace(/^((?:\s|<[^>]*>)*)\/((?:<[^>]*>)*)me(?=\s|<)/, '$1$2');

export const textAfterName = (text: string): string => text.slice(command.length);
