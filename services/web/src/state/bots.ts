import type { ChatEvent } from '@natter/client';

/** The kinds of bots, as the API numbers them. */
export const botKinds = { generic: 1, incoming: 2, outgoing: 3 } as const;

/** The calls of an outgoing webhook bot. */
interface Service {
  url: string;
  interface: number;
  /** Empty unless the reader owns the bot. */
  token: string;
}

export interface Bot {
  id: number;
  name: string;
  email: string;
  kind: number;
  /** Null for a bot without an owner. */
  ownerId: number | null;
  isActive: boolean;
  picture: string;
  /** The name of the channel for messages that name no other. */
  sendingChannel: string | null;
  /** The name of the only channel whose events it gets. */
  eventsChannel: string | null;
  getsAllPublic: boolean;
  services: readonly Service[];
}

/** Whether no messages are posted to an outgoing webhook bot, because its address was removed with its former owner. */
export const isWithoutAddress = ({ kind, services }: Bot): boolean =>
  kind === botKinds.outgoing && services.every(({ url }) => url === '');

/** The bots of the reader; for administrators, all of the organization. Keys are read when they are shown. */
export type Bots = ReadonlyMap<number, Bot>;

type BotEvent<O extends string> = Extract<ChatEvent, { type: 'realm_bot'; op: O }>;
type RawBot = Omit<BotEvent<'add'>['bot'], 'api_key'>;

const serviceOf = ({ base_url, interface: kind, token }: Record<string, unknown>): Service => ({
  url: String(base_url),
  interface: Number(kind),
  token: String(token),
});

const botOf = (raw: RawBot): Bot => ({
  id: raw.user_id,
  name: raw.full_name,
  email: raw.email,
  kind: raw.bot_type,
  ownerId: raw.owner_id,
  isActive: raw.is_active,
  picture: raw.avatar_url,
  sendingChannel: raw.default_sending_stream,
  eventsChannel: raw.default_events_register_stream,
  getsAllPublic: raw.default_all_public_streams,
  services: raw.services.map(serviceOf),
});

export const botsOf = (all: readonly RawBot[]): Bots => new Map(all.map((raw) => [raw.user_id, botOf(raw)]));

export function applyToBots(before: Bots, event: ChatEvent): Bots {
  if (event.type !== 'realm_bot') return before;
  const { user_id: id } = event.bot;
  const known = before.get(id);
  if (event.op !== 'add' && !known) return before;
  const bots = new Map(before);
  if (event.op === 'add') bots.set(id, botOf(event.bot));
  else if (event.op === 'delete') bots.delete(id);
  else if (known) bots.set(id, event.op === 'update' ? changed(known, event.bot) : { ...known, isActive: false });
  return bots;
}

function changed(bot: Bot, raw: BotEvent<'update'>['bot']): Bot {
  const given = <T>(value: T | undefined, before: T): T => (value === undefined ? before : value);
  return {
    id: bot.id,
    kind: bot.kind,
    name: given(raw.full_name, bot.name),
    email: given(raw.email, bot.email),
    ownerId: given(raw.owner_id, bot.ownerId),
    isActive: given(raw.is_active, bot.isActive),
    picture: given(raw.avatar_url, bot.picture),
    sendingChannel: given(raw.default_sending_stream, bot.sendingChannel),
    eventsChannel: given(raw.default_events_register_stream, bot.eventsChannel),
    getsAllPublic: given(raw.default_all_public_streams, bot.getsAllPublic),
    services: given(raw.services?.map(serviceOf), bot.services),
  };
}
