import { type Executor, sql } from '@natter/database';
import type { RenderContext } from '@natter/markdown';
import { z } from 'zod';

const linkifierRow = z.object({ id: z.number(), pattern: z.string(), urlTemplate: z.string() });

/** The realm's linkifiers in the order in which they apply. */
export const linkifiers = (realmId: number) =>
  sql.type(linkifierRow)`
    SELECT linkifier_id AS id, pattern, url_template AS "urlTemplate" FROM messaging.linkifier WHERE realm_id = ${realmId} ORDER BY ordinal`;

export const linkifiersOf = async (executor: Executor, realmId: number): Promise<RenderContext['linkifiers']> => [
  ...(await executor.any(linkifiers(realmId))),
];
