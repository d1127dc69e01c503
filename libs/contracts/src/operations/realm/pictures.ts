import { z } from 'zod';
import { operation, pageSchema } from '../../model/operation.ts';
import { bool, json, textOrJson } from '../../model/param.ts';
import { file } from './uploaded-picture.ts';

const errors = ['BAD_REQUEST'] as const;

/** The icon and the logos of the organization. */
export const realmPictureOperations = {
  getRealmIcon: operation({
    name: 'get-realm-icon',
    service: 'users',
    page: { method: 'GET', path: '/api/v1/realm/icon', isRedirect: true },
    caller: 'public',
    summary: 'Leads to the icon of the organization.',
    result: pageSchema,
    isReadOnly: true,
  }),
  getRealmLogo: operation({
    name: 'get-realm-logo',
    service: 'users',
    page: { method: 'GET', path: '/api/v1/realm/logo', isRedirect: true },
    caller: 'public',
    summary: 'Leads to the logo of the organization for the light or the dark theme.',
    params: { night: json(bool.default(false)) },
    result: pageSchema,
    isReadOnly: true,
  }),
  addRealmIcon: operation({
    name: 'add-realm-icon',
    service: 'users',
    http: { method: 'POST', path: '/realm/icon' },
    role: 'administrator',
    summary: 'Upload the icon of the organization.',
    weight: 5,
    params: { file },
    result: z.object({ icon_url: z.string() }),
    errors: ['BAD_REQUEST', 'BAD_IMAGE'],
    events: ['realm'],
  }),
  removeRealmIcon: operation({
    name: 'remove-realm-icon',
    service: 'users',
    http: { method: 'DELETE', path: '/realm/icon' },
    role: 'administrator',
    summary: "Back to the server's icon.",
    result: z.object({ icon_url: z.string() }),
    errors,
    events: ['realm'],
  }),
  addRealmLogo: operation({
    name: 'add-realm-logo',
    service: 'users',
    http: { method: 'POST', path: '/realm/logo' },
    role: 'administrator',
    summary: 'Upload the logo of the organization for the light or the dark theme.',
    weight: 5,
    params: { night: json(bool), file },
    errors: ['BAD_REQUEST', 'BAD_IMAGE'],
    events: ['realm'],
  }),
  removeRealmLogo: operation({
    name: 'remove-realm-logo',
    service: 'users',
    http: { method: 'DELETE', path: '/realm/logo' },
    role: 'administrator',
    summary: "Back to the server's logo.",
    params: { night: json(bool) },
    errors,
    events: ['realm'],
  }),
  realmPicture: operation({
    name: 'realm-picture',
    service: 'users',
    page: { method: 'GET', path: '/user_avatars/realm/{kind}' },
    caller: 'public',
    summary: 'The icon or a logo of the organization.',
    params: { kind: textOrJson(z.enum(['icon', 'logo', 'night_logo'])) },
    result: pageSchema,
    isReadOnly: true,
  }),
  defaultPicture: operation({
    name: 'default-picture',
    service: 'users',
    page: { method: 'GET', path: '/static/natter-{kind}.svg' },
    caller: 'public',
    summary: 'The picture of an organization that has none of its own.',
    params: { kind: textOrJson(z.enum(['icon', 'logo'])) },
    result: pageSchema,
  }),
};
