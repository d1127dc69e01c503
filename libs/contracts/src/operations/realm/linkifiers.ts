import { z } from 'zod';
import { id, trimmed } from '../../model/bounded.ts';
import { operation } from '../../model/operation.ts';
import { idList, int, json, text } from '../../model/param.ts';

const linkTemplate =
  'The address of the link, as a URL template (RFC 6570) with the groups of the pattern as variables.';
export const linkifierSchema = z.object({
  id: z.int().describe('The ID of the linkifier.'),
  pattern: z.string(),
  url_template: z.string().describe(linkTemplate),
});
export type Linkifier = z.infer<typeof linkifierSchema>;

const linkifierParams = { pattern: text(trimmed(1000)), url_template: text(trimmed(1000).describe(linkTemplate)) };
const errors = ['BAD_REQUEST'] as const;

export const linkifierOperations = {
  getLinkifiers: operation({
    name: 'get-linkifiers',
    service: 'users',
    http: { method: 'GET', path: '/realm/linkifiers' },
    summary: 'Patterns that become links, in the order in which they are applied.',
    result: z.object({ linkifiers: z.array(linkifierSchema) }),
  }),
  reorderLinkifiers: operation({
    name: 'reorder-linkifiers',
    service: 'users',
    http: { method: 'PATCH', path: '/realm/linkifiers' },
    role: 'administrator',
    summary: 'Change the order of the linkifiers.',
    params: { ordered_linkifier_ids: json(idList(1_000)) },
    errors,
    events: ['realm_linkifiers'],
  }),
  getFilters: operation({
    name: 'get-filters',
    service: 'users',
    http: { method: 'GET', path: '/realm/filters' },
    summary: 'The oldest form of linkifiers, always empty.',
    result: z.object({ filters: z.array(z.tuple([z.string(), z.string(), int])) }),
  }),
  addLinkifier: operation({
    name: 'add-linkifier',
    service: 'users',
    http: { method: 'POST', path: '/realm/filters' },
    role: 'administrator',
    summary: 'Add a linkifier.',
    weight: 3,
    params: linkifierParams,
    result: z.object({ id: int.describe('The ID of the new linkifier.') }),
    errors,
    events: ['realm_linkifiers'],
  }),
  updateLinkifier: operation({
    name: 'update-linkifier',
    service: 'users',
    http: { method: 'PATCH', path: '/realm/filters/{filter_id}' },
    role: 'administrator',
    summary: 'Change a linkifier.',
    weight: 3,
    params: { filter_id: json(id), ...linkifierParams },
    errors,
    events: ['realm_linkifiers'],
  }),
  removeLinkifier: operation({
    name: 'remove-linkifier',
    service: 'users',
    http: { method: 'DELETE', path: '/realm/filters/{filter_id}' },
    role: 'administrator',
    summary: 'Remove a linkifier.',
    params: { filter_id: json(id) },
    errors,
    events: ['realm_linkifiers'],
  }),
};
