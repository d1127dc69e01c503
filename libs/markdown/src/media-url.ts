const IMAGE = /\.(?:bmp|gif|jpe|jpeg|jpg|png|webp)$/i;
const AUDIO = /\.(?:aac|flac|m4a|mp3|oga|ogg|opus|wav|weba)$/i;
const VIDEO = /\.(?:mp4|webm)$/i;
const YOUTUBE_ID = /^[\w-]+$/;
const YOUTUBE_HOST = /^(?:\w+\.)?youtube(?:-nocookie)?\.com$/;
/** Paths of files and, before 2023, of folders. */
const SHARED_FILE = /^\/(?:scl\/fi|sh?)\//;
const OWN_FILE = /^\/?user_uploads\//;

/**
 * A file may have another address (`source`) than the page that links it; `href` is the link target, the file or the
 * page.
 */
interface Addresses {
  source?: string;
  href?: string;
}

export type Media = ({ kind: 'image' | 'video' } & Addresses) | { kind: 'youtube'; id: string };

export const isImagePath = (url: string): boolean => IMAGE.test(pathOf(url) ?? '');
export const isAudioPath = (url: string): boolean => AUDIO.test(pathOf(url) ?? '');

export function mediaAt(url: string): Media | undefined {
  const path = pathOf(url);
  if (path === undefined) return undefined;
  // Pages of this site have names like images.
  if (IMAGE.test(path) && webUrl(url)?.host !== 'pasteboard.co') return { kind: 'image', ...imageSource(url) };
  if (VIDEO.test(path)) return { kind: 'video', ...sharedSource(url) };
  const id = youtubeId(url);
  return id === undefined ? undefined : { kind: 'youtube', id };
}

/** The path of a URL that could be shown inline: on the web, or uploaded to this server. */
function pathOf(url: string): string | undefined {
  if (OWN_FILE.test(url)) return url.split(/[?#]/, 1)[0];
  return webUrl(url)?.pathname;
}

const webUrl = (url: string): URL | undefined => (/^https?:/i.test(url) ? (URL.parse(url) ?? undefined) : undefined);

const both = (address: string): Addresses => ({ source: address, href: address });

/** Known sites with pages about an image: the address of the image itself, and the link target of its preview. */
function imageSource(url: string): Addresses {
  const parsed = webUrl(url);
  if (parsed === undefined) return {};
  const { host, pathname } = parsed;
  if (host.endsWith('.wikipedia.org') && pathname.startsWith('/wiki/File:'))
    return both(url.replace('/wiki/File:', '/wiki/Special:FilePath/File:'));
  if (host === 'linx.li') return both(`https://linx.li/s${pathname}`);
  const blob = /^\/([^/]+\/[^/]+)\/blob\/(.+)$/.exec(host === 'github.com' ? pathname : '');
  return blob ? { source: `https://raw.githubusercontent.com/${blob[1]}/${blob[2]}` } : sharedSource(url);
}

/** Dropbox serves the file itself, not its page, if the query contains `raw=1`. */
function sharedSource(url: string): Addresses {
  const parsed = webUrl(url);
  if (parsed === undefined || !/^(?:.+\.)?dropbox\.com$/.test(parsed.host)) return {};
  const { origin, pathname, search } = parsed;
  return SHARED_FILE.test(pathname) ? both(`${origin}${pathname}${search === '' ? '?' : `${search}&`}raw=1`) : {};
}

function youtubeId(url: string): string | undefined {
  const parsed = webUrl(url);
  if (parsed === undefined) return undefined;
  const [, first = '', second] = parsed.pathname.split('/');
  let id: string | null | undefined;
  if (parsed.hostname === 'youtu.be') id = first;
  else if (YOUTUBE_HOST.test(parsed.hostname)) {
    if (['embed', 'shorts', 'v', 'live'].includes(first)) id = second;
    else id = parsed.searchParams.get('v') ?? parsed.searchParams.get('video_ids')?.split(',', 1)[0];
  }
  return id && YOUTUBE_ID.test(id) ? id : undefined;
}
