const IMAGE = /\.(?:bmp|gif|jpe|jpeg|jpg|png|webp)$/i;
const AUDIO = /\.(?:aac|flac|m4a|mp3|oga|ogg|opus|wav|weba)$/i;
const VIDEO = /\.(?:mp4|mov|webm)$/i;
const YOUTUBE_ID = /^[\w-]{11}$/;

export type Media = { kind: 'image' } | { kind: 'video' } | { kind: 'youtube'; id: string };

export function isImagePath(url: string): boolean {
  const path = pathOf(url);
  return path !== undefined && IMAGE.test(path);
}

export function isAudioPath(url: string): boolean {
  const path = pathOf(url);
  return path !== undefined && AUDIO.test(path);
}

export function mediaAt(url: string): Media | undefined {
  const path = pathOf(url);
  if (path === undefined) return undefined;
  if (IMAGE.test(path)) return { kind: 'image' };
  if (VIDEO.test(path)) return { kind: 'video' };
  const id = youtubeId(url);
  return id === undefined ? undefined : { kind: 'youtube', id };
}

/** The path of a URL that could be shown inline: on the web, or uploaded to this server. */
function pathOf(url: string): string | undefined {
  if (url.startsWith('/user_uploads/')) return url.split(/[?#]/, 1)[0];
  const parsed = /^https?:/i.test(url) ? URL.parse(url) : null;
  return parsed === null ? undefined : parsed.pathname;
}

function youtubeId(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null) return undefined;
  const host = parsed.hostname.replace(/^(?:www|m)\./, '');
  const [, first, second] = parsed.pathname.split('/');
  let id: string | null | undefined;
  if (host === 'youtu.be') id = first;
  else if (host === 'youtube.com' && first === 'watch') id = parsed.searchParams.get('v');
  else if (host === 'youtube.com' && (first === 'embed' || first === 'shorts')) id = second;
  return id && YOUTUBE_ID.test(id) ? id : undefined;
}
