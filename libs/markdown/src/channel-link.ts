import type { MarkdownIt, Token } from 'markdown-it';
import { runOf } from './context.ts';

const LINK = /#\*\*([^*>\n]+)(?:(>)([^*\n]*?)(?:@(\d{1,15}))?)?\*\*/y;
const MAY_PRECEDE = /[\s'"(,:<]/;
/** How an empty topic shows where the reader cannot choose a name for it. */
const EMPTY_TOPIC = 'general chat';

type ChannelLink = {
  cssClass: 'stream' | 'stream-topic' | 'message-link';
  channelId: number;
  href: string;
  channelName: string;
  topic: string | undefined;
};

/** `#**channel**`, `#**channel>topic**` and `#**channel>topic@id**`. */
export function channelLink(md: MarkdownIt): void {
  md.inline.ruler.before('emphasis', 'channel_link', (state, silent) => {
    if (state.src[state.pos] !== '#' || state.linkLevel > 0) return false;
    const before = state.pos === 0 ? undefined : state.src[state.pos - 1];
    if (before !== undefined && !MAY_PRECEDE.test(before)) return false;
    LINK.lastIndex = state.pos;
    const match = LINK.exec(state.src);
    if (match === null || LINK.lastIndex > state.posMax) return false;
    const channel = runOf(state.env).find.channel(match[1] ?? '');
    if (channel === undefined) return false;
    if (!silent) {
      const topic = match[2] === undefined ? undefined : (match[3] ?? '');
      state.push('channel_link', '', 0).meta = linkTo(channel, topic, match[4]);
    }
    state.pos += match[0].length;
    return true;
  });
  md.renderer.rules.channel_link = (tokens, index) => html(tokens[index], md);
}

function linkTo(channel: { id: number; name: string }, topic: string | undefined, messageId?: string): ChannelLink {
  const narrow = `/#narrow/channel/${channel.id}-${hashEncode(channel.name.replaceAll(' ', '-'))}`;
  const base = { channelId: channel.id, channelName: channel.name, topic };
  if (topic === undefined) return { ...base, cssClass: 'stream', href: narrow };
  const inTopic = `${narrow}/topic/${hashEncode(topic)}`;
  if (messageId === undefined) return { ...base, cssClass: 'stream-topic', href: inTopic };
  return { ...base, cssClass: 'message-link', href: `${inTopic}/near/${messageId}` };
}

/** Percent encoding with the percent sign spelled as a dot, as in every narrow URL. */
function hashEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*.]/g, (ch) => `%${ch.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%', '.');
}

function html(token: Token | undefined, md: MarkdownIt): string {
  const link = token?.meta as ChannelLink;
  const { escapeHtml } = md.utils;
  const topic = link.topic === '' ? `<em>${EMPTY_TOPIC}</em>` : escapeHtml(link.topic ?? '');
  const text = `#${escapeHtml(link.channelName)}${link.topic === undefined ? '' : ` &gt; ${topic}`}`;
  const id = link.cssClass === 'message-link' ? '' : ` data-stream-id="${link.channelId}"`;
  const suffix = link.cssClass === 'message-link' ? ' @ 💬' : '';
  return `<a class="${link.cssClass}"${id} href="${escapeHtml(link.href)}">${text}${suffix}</a>`;
}
