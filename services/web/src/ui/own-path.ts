const base = 'https://own.invalid';

/**
 * Whether an address is a path of this server, as browsers read it: `/\host` and `/<tab>/host` name another server, like
 * `//host`.
 */
export const isOwnPath = (address: string): boolean =>
  address.startsWith('/') && URL.canParse(address, base) && new URL(address, base).origin === base;
