/**
 * The reason why the server sends no request to an address from a user: it is no web address, contains credentials, or
 * has a reserved port. Undefined if it may; the host is checked elsewhere.
 */
export function addressProblem(
  address: string,
): 'not a web address' | 'an address with credentials' | 'a reserved port' | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'not a web address';
  if (url.username !== '' || url.password !== '') return 'an address with credentials';
  // Empty: the port of the scheme.
  const isReserved = url.port !== '' && !['80', '443'].includes(url.port) && Number(url.port) < 1_024;
  return isReserved ? 'a reserved port' : undefined;
}
