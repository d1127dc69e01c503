import { atOncePerBot, type DueBot } from './delivery-row.ts';

/** Requests in flight of this process. Those of one realm and of one bot are few, so that slow bots delay no others. */
const atOnce = 64;
const atOncePerRealm = 16;

interface Slots {
  /** Takes slots for messages that are due: one for each bot in the result. */
  deal(due: readonly DueBot[]): DueBot[];
  free(bot: DueBot): void;
}

/**
 * Slots are dealt to realms in random order, at most half of the free ones to each. In a realm the owners of bots take
 * turns; an owner takes a slot only while they have fewer than are free, so that slow bots of one owner leave slots.
 */
export function createSlots(): Slots {
  const perRealm = new Map<number, number>();
  const perOwner = new Map<number, number>();
  const perBot = new Map<number, number>();
  let taken = 0;

  return {
    deal: (due) =>
      shuffled([...Map.groupBy(due, (bot) => bot.realm_id)]).flatMap(([id, bots]) => dealToRealm(id, bots)),
    free: (bot) => change(bot, -1),
  };

  function dealToRealm(realmId: number, bots: readonly DueBot[]): DueBot[] {
    const free = atOnce - taken;
    const half = free === 0 ? 0 : Math.max(1, Math.floor(free / 2));
    const room = Math.max(0, Math.min(half, atOncePerRealm - (perRealm.get(realmId) ?? 0)));
    const dealt: DueBot[] = [];
    for (const bot of inTurns(bots)) {
      const freeInRealm = atOncePerRealm - (perRealm.get(realmId) ?? 0);
      if (dealt.length === room || (perOwner.get(bot.owner_id) ?? 0) >= freeInRealm) continue;
      if ((perBot.get(bot.bot_id) ?? 0) >= atOncePerBot) continue;
      change(bot, 1);
      dealt.push(bot);
    }
    return dealt;
  }

  function change({ realm_id, owner_id, bot_id }: DueBot, by: number): void {
    taken += by;
    add(perRealm, realm_id, by);
    add(perOwner, owner_id, by);
    add(perBot, bot_id, by);
  }
}

/** The messages that are due, as bots, the first one of each owner before the second ones. */
function inTurns(bots: readonly DueBot[]): DueBot[] {
  const owners = shuffled([...Map.groupBy(bots, (bot) => bot.owner_id).values()]);
  return owners
    .flatMap((own) =>
      shuffled(own.flatMap((bot) => Array<DueBot>(bot.count).fill(bot))).map((bot, turn) => ({ bot, turn })),
    )
    .sort((a, b) => a.turn - b.turn)
    .map(({ bot }) => bot);
}

function add(counts: Map<number, number>, key: number, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

const shuffled = <T>(items: readonly T[]): T[] =>
  items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
