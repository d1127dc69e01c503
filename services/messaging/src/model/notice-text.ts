import { markdownSource } from '@natter/markdown';

declare const built: unique symbol;
/** Markdown of a notice. Only this file makes it, so text and names of users are in it as text, not as markup. */
export interface NoticeText {
  readonly markdown: string;
  /** The channels that the server links; a notice links no others, whatever text it quotes. */
  readonly channelIds: readonly number[];
  readonly [built]: true;
}

const noticeText = (markdown: string, channelIds: readonly number[] = []): NoticeText =>
  ({ markdown, channelIds }) as unknown as NoticeText;

/** The tag of a template with the text of the server. */
export const notice = (strings: TemplateStringsArray, ...parts: readonly (NoticeText | number)[]): NoticeText =>
  noticeText(
    strings.reduce((text, string, i) => text + shown(parts[i - 1]) + string),
    parts.flatMap((part) => (typeof part === 'number' ? [] : part.channelIds)),
  );

const shown = (part: NoticeText | number | undefined): string =>
  typeof part === 'object' ? part.markdown : String(part ?? '');

export const joined = (parts: readonly NoticeText[], between: ', ' | '\n'): NoticeText =>
  noticeText(
    parts.map(({ markdown }) => markdown).join(between),
    parts.flatMap(({ channelIds }) => channelIds),
  );

/**
 * Names in the text of a notice. Users choose them: a name that would end its markup, or is markup itself, is shown as
 * code, in which no markup has an effect. The object may be renamed before the notice is rendered: then its name is no
 * mention or link, but text.
 */
const codeOf = (name: string): string => `\`${name.replaceAll(lineBreaks, ' ').replaceAll('`', "'")}\``;
export const asCode = (name: string): NoticeText => noticeText(codeOf(name));

/** Controls and separators: an empty line would end the code. */
const lineBreaks = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const isMarkup = /[*`]|\]\s*\(|:\/\/|[\p{Cc}\p{Zl}\p{Zp}]/u;
const isBracket = /[[\]<>]/;

/** A link to a channel, or to a topic of it, or to a message there. */
export function placeLink(
  channel: { channel_id: number; name: string },
  topic?: string,
  messageId?: number,
): NoticeText {
  const { channel_id, name } = channel;
  const named = topic === undefined ? `#${name}` : `#${name} > ${topic}`;
  if (name.includes('>') || isMarkup.test(name) || (topic !== undefined && isMarkup.test(topic))) return asCode(named);
  const at = messageId === undefined ? '' : `@${messageId}`;
  return noticeText(topic === undefined ? `#**${name}**` : `#**${name}>${topic}${at}**`, [channel_id]);
}

export const strong = (name: string): NoticeText =>
  noticeText(isMarkup.test(name) || isBracket.test(name) ? codeOf(name) : `**${name}**`);

/** Text that may contain names, such as the reason of a refusal: rendered without markup and mentions. */
export const plain = (text: string): NoticeText =>
  noticeText(isMarkup.test(text) || isBracket.test(text) ? codeOf(text) : text);

/** A silent mention of a group. */
export const groupMention = (name: string): NoticeText =>
  noticeText(isMarkup.test(name) ? codeOf(name) : `@_*${name}*`);

/** A silent mention of a user. */
export const userMention = (name: string, id: number): NoticeText =>
  noticeText(isMarkup.test(name) ? codeOf(name) : `@_**${name}|${id}**`);

/** A link with an address of the server, which has no character with a meaning in Markdown. */
export const addressLink = (text: NoticeText, address: string): NoticeText =>
  noticeText(`[${text.markdown}](${address})`, text.channelIds);

/** Channel links in text of users have no effect: its reader or its author may not see the channel. */
const withoutLinks = (text: string): string => markdownSource(text).replaceAll('#**', '\\#**');

/** A quote; its fence is longer than any in it. */
export function quoteBlock(text: string): NoticeText {
  const quoted = withoutLinks(text);
  const fence = '`'.repeat(Math.max(3, ...[...quoted.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return noticeText(`${fence}quote\n${quoted}\n${fence}`);
}

/** A quote whose lines are marked. */
export const quotedLines = (text: string): NoticeText => noticeText(`> ${withoutLinks(text).replaceAll('\n', '\n> ')}`);

/** Text of administrators that is sent in the name of a bot, with its markup. Its reader sees the links that they may follow. */
export const authored = (text: string): NoticeText => noticeText(markdownSource(text));

/** A time, in seconds since 1970, that each reader sees in their own time zone. */
export const timeOf = (seconds: number): NoticeText => noticeText(`<time:${new Date(seconds * 1000).toISOString()}>`);
