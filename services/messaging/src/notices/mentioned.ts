import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

/** A silent mention of a person, who need not be told that they did something. */
export async function mentionOf(executor: Executor, realmId: number, userId: number): Promise<string> {
  const person = await executor.maybeOne(sql.type(z.object({ full_name: z.string() }))`
    SELECT full_name FROM messaging.standing WHERE realm_id = ${realmId} AND user_id = ${userId}`);
  return `@_**${person?.full_name ?? 'Somebody'}|${userId}**`;
}

/**
 * Text in a quote, whatever fences it contains. It names no channels: the realm's own bots see them all, and whoever wrote the
 * text need not.
 */
export function quoted(text: string): string {
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${fence}quote\n${text.replaceAll('#**', '\\#**')}\n${fence}`;
}
