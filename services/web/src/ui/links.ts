import { type Narrow, type Place, topicPlace } from '../state/place.ts';

/** The address of a page, as the router takes it. */
export function linkTo(narrow: Narrow) {
  if (narrow.kind === 'feed') return { to: '/' as const };
  if (narrow.kind === 'direct') return { to: '/dm/$people' as const, params: { people: narrow.userIds.join(',') } };
  const channel = String(narrow.channelId);
  if (narrow.kind === 'channel') return { to: '/channel/$channel' as const, params: { channel } };
  return { to: '/channel/$channel/topic/$topic' as const, params: { channel, topic: topicParam(narrow.topic) } };
}

/** A path cannot contain an empty part: a topic without a name is `~`. */
const topicParam = (topic: string): string => (topic === '' || topic.startsWith('~') ? `~${topic}` : topic);
export const topicOf = (param: string): string => param.replace(/^~/, '');

/** The numbers of a path's part; `undefined` if there are others. */
export function idsOf(text: string): number[] | undefined {
  return /^\d{1,15}(,\d{1,15})*$/.test(text)
    ? text
        .split(',')
        .map(Number)
        .sort((a, b) => a - b)
    : undefined;
}

/** Links between messages, as the server renders them: `#narrow/channel/2-general/topic/welcome/with/52`. */
export function narrowOfLink(href: string): Narrow | undefined {
  const [, fragment] = href.split('#narrow/');
  if (fragment === undefined) return undefined;
  const parts = fragment.split('/');
  const operand = (...names: string[]): string | undefined => {
    const at = parts.findIndex((part, index) => index % 2 === 0 && names.includes(part));
    return at < 0 ? undefined : parts[at + 1];
  };
  const channelId = Number.parseInt(operand('channel', 'stream') ?? '', 10);
  const topic = operand('topic', 'subject');
  const people = operand('dm', 'pm-with')?.replace(/-[^,]*$/, '');
  if (people !== undefined) return { kind: 'direct', userIds: people.split(',').map(Number).filter(Number.isInteger) };
  if (Number.isNaN(channelId)) return undefined;
  return topic === undefined ? { kind: 'channel', channelId } : topicPlace(channelId, decodeDots(topic));
}

/** In these links a dot stands for a percent sign. */
function decodeDots(text: string): string {
  try {
    return decodeURIComponent(text.replace(/\.([0-9A-F]{2})/gi, '%$1'));
  } catch {
    return text;
  }
}

export const isPlace = (narrow: Narrow): narrow is Place => narrow.kind === 'topic' || narrow.kind === 'direct';
