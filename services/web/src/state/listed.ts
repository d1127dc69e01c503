import type { ChatEvent } from '@natter/client';

/** A channel that the reader may know, subscribed or not. */
export interface KnownChannel {
  id: number;
  name: string;
  isPrivate: boolean;
}

export interface ListedChannel extends KnownChannel {
  description: string;
}

/** All channels that the reader may know, without archived ones. Undefined until they are loaded. */
export type Listed = ReadonlyMap<number, ListedChannel> | undefined;

export type RawListed = Pick<
  Extract<ChatEvent, { type: 'stream'; op: 'create' }>['streams'][number],
  'stream_id' | 'name' | 'description' | 'invite_only'
>;

const channelOf = ({ stream_id: id, name, description, invite_only: isPrivate }: RawListed): ListedChannel => ({
  id,
  name,
  description,
  isPrivate,
});

export const listedOf = (channels: readonly RawListed[]): ReadonlyMap<number, ListedChannel> =>
  new Map(channels.map((one) => [one.stream_id, channelOf(one)]));

/** The known channels after an event. They are loaded with the events since the request. */
export function applyToListed(listed: Listed, event: ChatEvent): Listed {
  if (event.type !== 'stream' || !listed) return listed;
  if (event.op === 'create') return new Map([...listed, ...listedOf(event.streams)]);
  if (event.op === 'delete') return without(listed, event.stream_ids);
  const known = listed.get(event.stream_id);
  if (!known) return listed;
  const { property, value } = event;
  if (property === 'is_archived' && value === true) return without(listed, [known.id]);
  const change =
    property === 'name' || property === 'description'
      ? { [property]: String(value) }
      : property === 'invite_only'
        ? { isPrivate: value === true }
        : undefined;
  return change ? new Map(listed).set(known.id, { ...known, ...change }) : listed;
}

function without(listed: NonNullable<Listed>, ids: readonly number[]): Listed {
  const left = new Map(listed);
  for (const id of ids) left.delete(id);
  return left;
}
