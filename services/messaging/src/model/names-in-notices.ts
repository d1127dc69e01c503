/**
 * Names in the text of a notice. Users choose them, and system bots may mention everybody and link every channel: a
 * name that would end its markup is shown as code, in which no markup has an effect.
 */
const asCode = (name: string): string => `\`${name.replaceAll('`', "'")}\``;

const endsLink = /[*`>]/;
const endsTopic = /[*`]/;
const isMarkup = /[*`[\]<>]|:\/\//;

/** A link to a channel, or to a topic of it, or to a message there. */
export function placeLink(channel: string, topic?: string, messageId?: number): string {
  const named = topic === undefined ? `#${channel}` : `#${channel} > ${topic}`;
  if (endsLink.test(channel) || (topic !== undefined && endsTopic.test(topic))) return asCode(named);
  const at = messageId === undefined ? '' : `@${messageId}`;
  return topic === undefined ? `#**${channel}**` : `#**${channel}>${topic}${at}**`;
}

export const strong = (name: string): string => (isMarkup.test(name) ? asCode(name) : `**${name}**`);

/** A silent mention of a group. */
export const groupMention = (name: string): string => (endsTopic.test(name) ? asCode(name) : `@_*${name}*`);
