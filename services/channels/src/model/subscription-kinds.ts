import type { Executor } from '@natter/database';
import { JsonPieces } from '@natter/service-kit';
import { channelTexts, contextOf } from './channel-object.ts';
import type { Directory } from './directory/directory.ts';
import { toPersonalFields, withoutNulls } from './personal.ts';
import { type SubscribersChoice, subscriberLists } from './subscriber-lists.ts';
import type { Visible } from './visible-channels.ts';

export interface SubscriptionKinds {
  subscriptions: JsonPieces;
  unsubscribed: JsonPieces;
  never_subscribed: JsonPieces;
}

/** The user who asks, and the directory of their realm. */
interface Asking {
  realmId: number;
  userId: number;
  directory: Directory;
}

/** Channels by the user's relation to them, each in the form that clients get. */
export async function subscriptionKinds(
  executor: Executor,
  asking: Asking,
  visible: readonly Visible[],
  { subscribers, withNulls }: { subscribers: SubscribersChoice; withNulls: boolean },
): Promise<SubscriptionKinds> {
  const { userId, directory } = asking;
  const person = directory.people.get(userId);
  const textOf = channelTexts(contextOf(directory));
  const lists = await subscriberLists(
    executor,
    asking,
    visible.map(({ channel }) => channel),
    subscribers,
  );
  const kinds: Record<keyof SubscriptionKinds, string[]> = {
    subscriptions: [],
    unsubscribed: [],
    never_subscribed: [],
  };
  for (const { channel, isSubscribed, personal } of visible) {
    const shared = [textOf(channel), JSON.stringify(lists(channel.id))];
    if (!personal) {
      kinds.never_subscribed.push(joinTexts(shared));
      continue;
    }
    const shown = withNulls ? personal : { ...personal, ...withoutNulls(personal, person) };
    const text = joinTexts([...shared, JSON.stringify(toPersonalFields(shown))]);
    (isSubscribed ? kinds.subscriptions : kinds.unsubscribed).push(text);
  }
  return {
    subscriptions: listOfTexts(kinds.subscriptions),
    unsubscribed: listOfTexts(kinds.unsubscribed),
    never_subscribed: listOfTexts(kinds.never_subscribed),
  };
}

const listOfTexts = (texts: readonly string[]): JsonPieces => new JsonPieces([Buffer.from(`[${texts.join(',')}]`)]);

/** Merges objects that have no member name in common. */
const joinTexts = (objects: readonly string[]): string =>
  `{${objects
    .map((object) => object.slice(1, -1))
    .filter((members) => members !== '')
    .join(',')}}`;
