/** 128 random bits in hexadecimal. `randomUUID` is missing in pages that came by HTTP from another machine. */
export const randomId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
