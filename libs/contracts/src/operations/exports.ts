import { z } from 'zod';
import { id } from '../model/bounded.ts';
import { operation } from '../model/operation.ts';
import { bool, int, json } from '../model/param.ts';

const errors = ['BAD_REQUEST'] as const;

/** Exports of an organization are not supported: the list is empty, and creating one fails. Users can record their consent. */
export const exportOperations = {
  getExports: operation({
    name: 'get-exports',
    service: 'users',
    http: { method: 'GET', path: '/export/realm' },
    role: 'administrator',
    summary: 'Exports of the organization.',
    result: z.object({ exports: z.array(z.looseObject({ id: int.describe('The ID of the export.') })) }),
    errors,
  }),
  createExport: operation({
    name: 'create-export',
    service: 'users',
    http: { method: 'POST', path: '/export/realm' },
    role: 'administrator',
    summary: 'Export the organization, which this server does not: always refused.',
    weight: 5,
    params: { export_type: json(z.literal([1, 2]).default(1)) },
    result: z.object({ id: int.describe('The ID of the export.') }),
    errors,
  }),
  removeExport: operation({
    name: 'remove-export',
    service: 'users',
    http: { method: 'DELETE', path: '/export/realm/{export_id}' },
    role: 'administrator',
    summary: 'Remove an export of the organization.',
    params: { export_id: json(id) },
    errors,
  }),
  getExportConsents: operation({
    name: 'get-export-consents',
    service: 'users',
    http: { method: 'GET', path: '/export/realm/consents' },
    role: 'administrator',
    summary: 'Whether each person agrees to an export of what is private to them.',
    weight: 3,
    result: z.object({ export_consents: z.array(z.object({ user_id: int, consented: bool })) }),
    errors,
  }),
};
