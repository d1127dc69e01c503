import { z } from 'zod';
import { operation } from '../operation.ts';
import { int, json } from '../param.ts';

const fields = {
  type: z.enum(['private', 'direct', 'stream', 'channel', '']),
  to: z.array(z.int()),
  topic: z.string(),
  content: z.string(),
};
/** A draft as a client writes it (semantics 14); other keys are refused. */
export const writtenDraftSchema = z.strictObject({ ...fields, timestamp: z.number().optional() });
export type WrittenDraft = z.infer<typeof writtenDraftSchema>;

export const draftSchema = z.object({
  id: z.int(),
  type: z.enum(['private', 'stream', '']),
  to: z.array(z.int()),
  topic: z.string(),
  content: z.string(),
  timestamp: z.int(),
});
export type Draft = z.infer<typeof draftSchema>;

export const draftOperations = {
  getDrafts: operation({
    name: 'get-drafts',
    service: 'messaging',
    http: { method: 'GET', path: '/drafts' },
    summary: "The caller's drafts, by time of their last edit.",
    result: z.object({ count: z.int(), drafts: z.array(draftSchema) }),
    errors: ['BAD_REQUEST'],
  }),
  createDrafts: operation({
    name: 'create-drafts',
    service: 'messaging',
    http: { method: 'POST', path: '/drafts' },
    summary: 'Store drafts.',
    cost: 3,
    params: { drafts: json(z.array(writtenDraftSchema)) },
    result: z.object({ ids: z.array(z.int()) }),
    errors: ['BAD_REQUEST'],
    events: ['drafts'],
  }),
  editDraft: operation({
    name: 'edit-draft',
    service: 'messaging',
    http: { method: 'PATCH', path: '/drafts/{draft_id}' },
    summary: 'Replace a draft.',
    params: { draft_id: json(int), draft: json(writtenDraftSchema) },
    errors: ['BAD_REQUEST'],
    events: ['drafts'],
  }),
  deleteDraft: operation({
    name: 'delete-draft',
    service: 'messaging',
    http: { method: 'DELETE', path: '/drafts/{draft_id}' },
    summary: 'Delete a draft.',
    params: { draft_id: json(int) },
    errors: ['BAD_REQUEST'],
    events: ['drafts'],
  }),
};
