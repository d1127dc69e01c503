/** The HTML of previews of linked pages whose image is `/picture` of their site. */
export const picturePath = /\/external_content\/[0-9a-f]{40}\/([0-9a-f]+)/g;
/** Replaces the signed paths of pictures in HTML by their addresses. */
export const unsigned = (html: string): string =>
  html.replace(picturePath, (_, hex) => Buffer.from(hex, 'hex').toString());

export const embed = (url: string, title: string, description = ''): string =>
  `\n<div class="message_embed"><a class="message_embed_image" href="${url}" style="background-image: ` +
  `url(&quot;${new URL('/picture', url)}&quot;)"></a><div class="data-container"><div class="message_embed_title">` +
  `<a href="${url}" title="${title}">${title}</a></div>${description}</div></div>`;
export const linkTo = (url: string): string => `<p><a href="${url}">${url}</a></p>`;
