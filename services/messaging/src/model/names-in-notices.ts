/**
 * Names in the text of a notice. Users choose them, and system bots may mention everybody and link every channel: a
 * name that would end its markup, or is markup itself, is shown as code, in which no markup has an effect. The object may
 * be renamed before the notice is rendered: then its name is no mention or link, but text.
 */
export const asCode = (name: string): string => `\`${name.replaceAll(lineBreaks, ' ').replaceAll('`', "'")}\``;

/** Controls and separators: an empty line would end the code. */
const lineBreaks = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const isMarkup = /[*`]|\]\s*\(|:\/\/|[\p{Cc}\p{Zl}\p{Zp}]/u;
const isBracket = /[[\]<>]/;

/** A link to a channel, or to a topic of it, or to a message there. */
export function placeLink(channel: string, topic?: string, messageId?: number): string {
  const named = topic === undefined ? `#${channel}` : `#${channel} > ${topic}`;
  if (channel.includes('>') || isMarkup.test(channel) || (topic !== undefined && isMarkup.test(topic)))
    return asCode(named);
  const at = messageId === undefined ? '' : `@${messageId}`;
  return topic === undefined ? `#**${channel}**` : `#**${channel}>${topic}${at}**`;
}

export const strong = (name: string): string =>
  isMarkup.test(name) || isBracket.test(name) ? asCode(name) : `**${name}**`;

/** Text that may contain names, such as the reason of a refusal: rendered without markup and mentions. */
export const plain = (text: string): string => (isMarkup.test(text) || isBracket.test(text) ? asCode(text) : text);

/** A silent mention of a group. */
export const groupMention = (name: string): string => (isMarkup.test(name) ? asCode(name) : `@_*${name}*`);

/** A silent mention of a user. */
export const userMention = (name: string, id: number): string =>
  isMarkup.test(name) ? asCode(name) : `@_**${name}|${id}**`;
