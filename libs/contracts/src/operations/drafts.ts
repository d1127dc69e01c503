import { z } from 'zod';
import { id, list, number, strictObject, string } from '../model/bounded.ts';
import { operation } from '../model/operation.ts';
import { idList, json } from '../model/param.ts';

const fields = {
  type: z
    .enum(['private', 'direct', 'stream', 'channel', ''])
    .describe('The kind of message; the empty text while it is not chosen.'),
  to: idList(1_000),
  topic: string(1_000),
  content: string(40_000),
};
/** A draft as a client sends it; unknown keys are refused. */
const writtenDraftSchema = strictObject({
  ...fields,
  timestamp: number(-1e15, 1e15)
    .describe('When the draft was edited, in seconds since the epoch. By default now.')
    .optional(),
});
export type WrittenDraft = z.infer<typeof writtenDraftSchema>;

export const draftSchema = z.object({
  id: z.int().describe('The ID of the draft.'),
  type: z.enum(['private', 'stream', '']).describe('The kind of message; the empty text while it is not chosen.'),
  to: z.array(z.int()),
  topic: z.string(),
  content: z.string(),
  timestamp: z.int().describe('When the draft was edited, in seconds since the epoch.'),
});
export type Draft = z.infer<typeof draftSchema>;

export const draftOperations = {
  getDrafts: operation({
    name: 'get-drafts',
    service: 'messaging',
    http: { method: 'GET', path: '/drafts' },
    caller: 'human',
    summary: "The caller's drafts, by time of their last edit.",
    result: z.object({ count: z.int().describe('How many drafts there are.'), drafts: z.array(draftSchema) }),
    errors: ['BAD_REQUEST'],
  }),
  createDrafts: operation({
    name: 'create-drafts',
    service: 'messaging',
    http: { method: 'POST', path: '/drafts' },
    caller: 'human',
    summary: 'Store drafts.',
    weight: 3,
    weigh: ({ drafts }) => drafts.length / 20,
    params: { drafts: json(list(writtenDraftSchema, 1_000)) },
    result: z.object({ ids: z.array(z.int()).describe('The IDs of the new drafts, in the order of the request.') }),
    errors: ['BAD_REQUEST'],
    events: ['drafts'],
  }),
  editDraft: operation({
    name: 'edit-draft',
    service: 'messaging',
    http: { method: 'PATCH', path: '/drafts/{draft_id}' },
    caller: 'human',
    summary: 'Replace a draft.',
    params: { draft_id: json(id), draft: json(writtenDraftSchema) },
    errors: ['BAD_REQUEST'],
    events: ['drafts'],
  }),
  deleteDraft: operation({
    name: 'delete-draft',
    service: 'messaging',
    http: { method: 'DELETE', path: '/drafts/{draft_id}' },
    caller: 'human',
    summary: 'Delete a draft.',
    params: { draft_id: json(id) },
    errors: ['BAD_REQUEST'],
    events: ['drafts'],
  }),
};
