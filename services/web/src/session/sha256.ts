/** The SHA-256 of a text, in hexadecimal. Undefined without https: the browser then has no functions for it. */
export async function sha256(text: string): Promise<string | undefined> {
  if (!isSecureContext) return undefined;
  // biome-ignore lint/plugin: the page is in a secure context here.
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
