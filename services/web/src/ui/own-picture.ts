const base = 'https://own.invalid';

/** Paths of files and pictures. Any other path would make the browser send a request with the session of the reader. */
const pictures = /^\/(?:user_uploads|external_content|user_avatars|avatar|static)\//;

/**
 * Whether an address is that of a picture of this server, as browsers read it: `/\host` and `/<tab>/host` name another
 * server, like `//host`, and `/user_uploads/../json/users` names another path.
 */
export function isOwnPicture(address: string): boolean {
  const url = address.startsWith('/') ? URL.parse(address, base) : null;
  return url?.origin === base && pictures.test(url.pathname);
}
