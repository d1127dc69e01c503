import type { Inline, InlineRule } from './inline.ts';
import { element, type Node, text } from './node.ts';

const MAY_PRECEDE = String.raw`(?<![^\s'"({[/<])`;
const LINK = new RegExp(String.raw`${MAY_PRECEDE}#\*\*([^*>]+)(?:>([^*]*))?\*\*`, 'g');
const MESSAGE = /^(.*)@(\d{1,15})$/s;
/** The displayed name of an empty topic, where the reader's client cannot choose one. */
const EMPTY_TOPIC = 'general chat';

/** `#**channel**`, `#**channel>topic**` and `#**channel>topic@id**`; the name is matched exactly. */
export const channelLink: InlineRule = (content, inline) => {
  if (!content.includes('#**')) return content;
  const { find } = inline.run;
  return content.replace(LINK, (whole, name: string, rest: string | undefined) => {
    const channel = find.channel(name);
    if (channel === undefined) return channelOnly(`${name}${rest === undefined ? '' : `>${rest}`}`, whole, inline);
    if (rest === undefined) return channelOnly(name, whole, inline);
    const id = { 'data-stream-id': String(channel.id) };
    const [, topic = rest, messageId] = MESSAGE.exec(rest) ?? [];
    if (messageId !== undefined) {
      const shown = [...titleOf(name, topic), text(' @ 💬')];
      return inline.mark([linkTo('message-link', {}, messageAddress(channel, topic, messageId), shown)], whole);
    }
    const inTopic = topicAddress(channel, topic);
    const latest = find.latestMessageId(channel.id, topic);
    const href = latest === undefined ? inTopic : `${inTopic}/with/${latest}`;
    return inline.mark([linkTo('stream-topic', id, href, titleOf(name, topic))], whole);
  });
};

/** The name of a channel may contain a `>`. */
function channelOnly(name: string, whole: string, inline: Inline): string {
  const channel = inline.run.find.channel(name);
  if (channel === undefined) return whole;
  const id = { 'data-stream-id': String(channel.id) };
  return inline.mark([linkTo('stream', id, narrowOf(channel), [text(`#${name}`)])], whole);
}

interface Channel {
  id: number;
  name: string;
}

const narrowOf = ({ id, name }: Channel): string => `/#narrow/channel/${id}-${hashEncode(name.replaceAll(' ', '-'))}`;

const topicAddress = (channel: Channel, topic: string): string => `${narrowOf(channel)}/topic/${hashEncode(topic)}`;

/** The address of a message in a channel. It has no character with a meaning in Markdown. */
export const messageAddress = (channel: Channel, topic: string, messageId: number | string): string =>
  `${topicAddress(channel, topic)}/near/${messageId}`;

const linkTo = (kind: string, attributes: Record<string, string>, href: string, shown: Node[]) =>
  element('a', { class: kind, ...attributes, href }, shown);

const titleOf = (channel: string, topic: string): Node[] =>
  topic === '' ? [text(`#${channel} > `), element('em', {}, [text(EMPTY_TOPIC)])] : [text(`#${channel} > ${topic}`)];

/** Percent encoding with a dot in place of the percent sign, as in every narrow URL. */
function hashEncode(content: string): string {
  return encodeURIComponent(content.toWellFormed())
    .replace(/[!'()*.]/g, (ch) => `%${ch.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%', '.');
}
