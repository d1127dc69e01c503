import { Counts, shuffled } from '@natter/database';
import { atOncePerBot, type DueBot } from './delivery-row.ts';

/** Requests in flight of this process. The numbers of one realm and of one bot are limited, so that slow bots delay no others. */
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
  const perRealm = new Counts<number>();
  const perOwner = new Counts<number>();
  const perBot = new Counts<number>();
  let taken = 0;

  return {
    deal: (due) =>
      shuffled([...Map.groupBy(due, (bot) => bot.realm_id)]).flatMap(([id, bots]) => dealToRealm(id, bots)),
    free: (bot) => change(bot, -1),
  };

  function dealToRealm(realmId: number, bots: readonly DueBot[]): DueBot[] {
    const free = atOnce - taken;
    const half = free === 0 ? 0 : Math.max(1, Math.floor(free / 2));
    const room = Math.max(0, Math.min(half, atOncePerRealm - perRealm.of(realmId)));
    const dealt: DueBot[] = [];
    for (const bot of inTurns(bots)) {
      const freeInRealm = atOncePerRealm - perRealm.of(realmId);
      if (dealt.length === room || perOwner.of(bot.owner_id) >= freeInRealm) continue;
      if (perBot.of(bot.bot_id) >= atOncePerBot) continue;
      change(bot, 1);
      dealt.push(bot);
    }
    return dealt;
  }

  function change({ realm_id, owner_id, bot_id }: DueBot, by: number): void {
    taken += by;
    perRealm.add(realm_id, by);
    perOwner.add(owner_id, by);
    perBot.add(bot_id, by);
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
