import { badRequest, collectionOperations, missing, type NavigationView, totals } from '@natter/contracts';
import { type Executor, isDuplicate, requireRoom, sql } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { toSelf } from '../model/change.ts';
import type { SnapshotPart } from '../model/snapshot-part.ts';

const builtIn = new Set([
  'inbox',
  'recent',
  'feed',
  'drafts',
  'narrow/has/reaction/sender/me',
  'narrow/is/mentioned',
  'narrow/is/starred',
  'scheduled',
  'reminders',
]);
const maxName = 100;
const maxFragment = 255;

export function navigationViewHandlers(owner: Owner): Handlers {
  return [
    handle(collectionOperations.getNavigationViews, async ({ actor }) => ({
      navigation_views: await readViews(owner.database, actor.userId),
    })),

    handleWrite(collectionOperations.addNavigationView, async (context, params) => {
      const { userId } = context.actor;
      const fragment = params.fragment.trim();
      if (fragment === '') throw badRequest('fragment cannot be blank');
      if ([...fragment].length > maxFragment)
        throw badRequest(`fragment is too long (limit: ${maxFragment} characters)`);
      const name = checkedName(fragment, params.name);
      if (name === undefined && !builtIn.has(fragment)) throw badRequest('Custom views must have a valid name.');
      return context.write(async (work) => {
        await work
          .run(sql.unsafe`
            INSERT INTO users.navigation_view (user_id, fragment, is_pinned, name) VALUES (${userId}, ${fragment}, ${params.is_pinned}, ${name ?? null})`)
          .catch(refuseDuplicate);
        await requireRoom(work, totals.navigationViews, sql.fragment`users.navigation_view WHERE user_id = ${userId}`);
        const navigation_view = toView({ fragment, is_pinned: params.is_pinned, name: name ?? null });
        work.emit(toSelf(userId, 'navigation_view/add', { navigation_view }));
        return {};
      });
    }),

    handleWrite(collectionOperations.updateNavigationView, async (context, { fragment, ...params }) =>
      context.write(async (work) => {
        const { userId } = context.actor;
        const view = await work.maybeOne(sql.type(viewRow)`
          SELECT fragment, is_pinned, name FROM users.navigation_view WHERE user_id = ${userId} AND fragment = ${fragment} FOR UPDATE`);
        if (!view) throw noSuchView();
        const name = checkedName(fragment, params.name);
        const data: Partial<NavigationView> = {};
        if (params.is_pinned !== undefined && params.is_pinned !== view.is_pinned) data.is_pinned = params.is_pinned;
        if (name !== undefined && name !== view.name) data.name = name;
        if (Object.keys(data).length === 0) return {};
        await work
          .run(sql.unsafe`
            UPDATE users.navigation_view SET is_pinned = ${data.is_pinned ?? view.is_pinned}, name = ${data.name ?? view.name}
            WHERE user_id = ${userId} AND fragment = ${fragment}`)
          .catch(refuseDuplicate);
        work.emit(toSelf(userId, 'navigation_view/update', { fragment, data }));
        return {};
      }),
    ),

    handleWrite(collectionOperations.removeNavigationView, async (context, { fragment }) =>
      context.write(async (work) => {
        const { userId } = context.actor;
        const removed = await work.run(
          sql.unsafe`DELETE FROM users.navigation_view WHERE user_id = ${userId} AND fragment = ${fragment}`,
        );
        if (removed === 0) throw noSuchView();
        work.emit(toSelf(userId, 'navigation_view/remove', { fragment }));
        return {};
      }),
    ),
  ];
}

function checkedName(fragment: string, given: string | undefined): string | undefined {
  // Some clients cannot omit a value and send the text "null".
  if (given === undefined || given === 'null') return undefined;
  if (builtIn.has(fragment)) throw badRequest('Built-in views cannot have a custom name.');
  const name = given.trim();
  if (name === '') throw badRequest('name cannot be blank');
  if ([...name].length > maxName) throw badRequest(`name is too long (limit: ${maxName} characters)`);
  return name;
}

function refuseDuplicate(error: unknown): never {
  if (!isDuplicate(error)) throw error;
  const isName = error instanceof Error && error.message.includes('navigation_view_name');
  throw badRequest(isName ? 'Navigation view with this name already exists.' : 'Navigation view already exists.');
}

const noSuchView = () => missing('Navigation view does not exist.');

const viewRow = z.object({ fragment: z.string(), is_pinned: z.boolean(), name: z.string().nullable() });

const toView = ({ fragment, is_pinned, name }: z.infer<typeof viewRow>): NavigationView =>
  name === null ? { fragment, is_pinned } : { fragment, is_pinned, name };

const readViews = async (executor: Executor, userId: number): Promise<NavigationView[]> =>
  (
    await executor.any(
      sql.type(
        viewRow,
      )`SELECT fragment, is_pinned, name FROM users.navigation_view WHERE user_id = ${userId} ORDER BY id`,
    )
  ).map(toView);

export const navigationViewsSnapshot: SnapshotPart = {
  types: ['navigation_views', 'navigation_view'],
  read: async (executor, { viewer }) => ({
    navigation_views: await readViews(executor, viewer.userId),
  }),
  spectators: { navigation_views: [] },
};
