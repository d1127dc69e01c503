import { badRequest, collectionOperations, limits, missing, type SavedSnippet, totals } from '@natter/contracts';
import { type Executor, requireRoom, sql, type Work } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { toSelf } from '../model/change.ts';
import type { SnapshotPart } from '../model/snapshot-part.ts';

const maxTitle = 60;

export function savedSnippetHandlers(owner: Owner): Handlers {
  return [
    handle(collectionOperations.getSavedSnippets, async ({ actor }) => ({
      saved_snippets: await readSnippets(owner.database, actor.userId),
    })),

    handleWrite(collectionOperations.addSavedSnippet, async (context, params) => {
      const { userId } = context.actor;
      const title = checkedTitle(params.title);
      const content = checkedContent(params.content);
      return context.write(async (work) => {
        const row = await work.one(sql.type(snippetRow)`
          INSERT INTO users.saved_snippet (user_id, title, content) VALUES (${userId}, ${title}, ${content}) RETURNING id, title, content, created_at`);
        await requireSnippetRoom(work, userId);
        work.emit(toSelf(userId, 'saved_snippets/add', { saved_snippet: toSnippet(row) }));
        return { saved_snippet_id: row.id };
      });
    }),

    handleWrite(collectionOperations.updateSavedSnippet, async (context, { saved_snippet_id, ...params }) => {
      const { userId } = context.actor;
      const title = params.title === undefined ? undefined : checkedTitle(params.title);
      const content = params.content === undefined ? undefined : checkedContent(params.content);
      return context.write(async (work) => {
        const row = await work.maybeOne(sql.type(snippetRow)`
          SELECT id, title, content, created_at FROM users.saved_snippet WHERE user_id = ${userId} AND id = ${saved_snippet_id} FOR UPDATE`);
        if (!row) throw noSuchSnippet();
        const after = { ...row, title: title ?? row.title, content: content ?? row.content };
        if (after.title === row.title && after.content === row.content) return {};
        await work.run(
          sql.unsafe`UPDATE users.saved_snippet SET title = ${after.title}, content = ${after.content} WHERE id = ${row.id}`,
        );
        await requireSnippetRoom(work, userId);
        work.emit(toSelf(userId, 'saved_snippets/update', { saved_snippet: toSnippet(after) }));
        return {};
      });
    }),

    handleWrite(collectionOperations.removeSavedSnippet, async (context, { saved_snippet_id }) =>
      context.write(async (work) => {
        const { userId } = context.actor;
        const removed = await work.run(
          sql.unsafe`DELETE FROM users.saved_snippet WHERE user_id = ${userId} AND id = ${saved_snippet_id}`,
        );
        if (removed === 0) throw noSuchSnippet();
        work.emit(toSelf(userId, 'saved_snippets/remove', { saved_snippet_id }));
        return {};
      }),
    ),
  ];
}

const requireSnippetRoom = (work: Work, userId: number): Promise<void> =>
  requireRoom(
    work,
    totals.savedSnippets,
    sql.fragment`users.saved_snippet WHERE user_id = ${userId}`,
    sql.fragment`octet_length(content)`,
  );

function checkedTitle(given: string): string {
  const title = given.trim();
  if (title === '') throw badRequest('Title cannot be empty.');
  if ([...title].length > maxTitle) throw badRequest(`Title is too long (limit: ${maxTitle} characters)`);
  return title;
}

function checkedContent(content: string): string {
  if (content.trim() === '') throw badRequest('Content cannot be empty.');
  if ([...content].length > limits.messageLength)
    throw badRequest(`Content is too long (limit: ${limits.messageLength} characters)`);
  return content;
}

const noSuchSnippet = () => missing('Saved snippet does not exist.');

const snippetRow = z.object({ id: z.number(), title: z.string(), content: z.string(), created_at: z.date() });

const toSnippet = ({ created_at, ...row }: z.infer<typeof snippetRow>): SavedSnippet => ({
  ...row,
  date_created: Math.floor(created_at.getTime() / 1000),
});

const readSnippets = async (executor: Executor, userId: number): Promise<SavedSnippet[]> =>
  (
    await executor.any(
      sql.type(
        snippetRow,
      )`SELECT id, title, content, created_at FROM users.saved_snippet WHERE user_id = ${userId} ORDER BY id`,
    )
  ).map(toSnippet);

export const savedSnippetsSnapshot: SnapshotPart = {
  types: ['saved_snippets'],
  read: async (executor, { viewer }) => ({
    saved_snippets: await readSnippets(executor, viewer.userId),
  }),
  spectators: { saved_snippets: [] },
};
