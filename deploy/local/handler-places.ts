import { operationsByName } from '@natter/contracts';
import type { Sources } from './layout.ts';

/** Resources whose folder is not named as in the path, or operations without a path. */
const folderOf: Readonly<Record<string, string>> = {
  streams: 'channels',
  get_stream_id: 'channels',
  default_streams: 'default-channels',
  default_stream_groups: 'default-channels',
  filters: 'linkifiers',
  flags: 'message-flags',
  mark_all_as_read: 'message-flags',
  mark_stream_as_read: 'message-flags',
  mark_topic_as_read: 'message-flags',
  submessage: 'submessages',
  user_uploads: 'attachments',
  tus: 'resumable-uploads',
  members: 'subscriptions',
  icon: 'realm-pictures',
  logo: 'realm-pictures',
  emoji: 'realm-emoji',
  avatar: 'avatars',
  user_avatars: 'avatars',
  status: 'user-status',
  profile_data: 'profile-fields',
  tutorial_status: 'onboarding-steps',
  mobile_push: 'push-devices',
  apns_device_token: 'push-devices',
  ios_device_token: 'push-devices',
  android_gcm_reg_id: 'push-devices',
  android_device_token: 'push-devices',
  invites: 'invitations',
  do_confirm: 'join',
  reset: 'password-reset',
  export: 'exports',
  events: 'queues',
  authenticate: 'authentication',
  'authenticate-session': 'authentication',
  'confirm-service': 'queues',
  'refresh-actor': 'authentication',
  'describe-actor': 'authentication',
  'queue-defaults': 'bots',
  reveal: 'bots',
  'get-user-channels': 'subscriptions',
};

interface Described {
  name: string;
  service: string;
  http?: { path: string } | undefined;
  page?: { path: string } | undefined;
}

/**
 * Files in which a reader who knows the rule looks for the handler of an operation, in order: those named after the
 * operation or what it is about, then those named after the folder of the resource or another part of the path. Only
 * files that exist are guesses.
 */
export function guessesOf({ name, service, http, page }: Described, paths: readonly string[]): string[] {
  const own = paths.filter((path) => path.startsWith(`services/${service}/src/`) && !path.includes('/model/'));
  const about = name.replace(/^[a-z]+-/, '');
  const named = [name, name.replace(/-page$/, ''), about].flatMap((form) => [form, `${form}s`, form.replace(/s$/, '')]);
  const segments = ((http ?? page)?.path ?? '')
    .split('/')
    .filter((segment) => /^[a-z]/.test(segment) && segment !== 'me');
  const folders = [name, ...segments.reverse()].map((segment) => folderOf[segment] ?? segment.replaceAll('_', '-'));
  const files = [
    ...named.flatMap((form) => own.filter((path) => path.endsWith(`/${form}.ts`))),
    ...folders.flatMap((folder) => [
      ...own.filter((path) => path.endsWith(`/src/${folder}/${folder}.ts`) || path.endsWith(`/src/${folder}.ts`)),
      ...own.filter((path) => path.endsWith(`/${folder}.ts`)),
    ]),
  ];
  return [...new Set(files)];
}

/**
 * How many files are opened until the handler of each operation is found; infinitely many where no guess is right. The gateway
 * answers its own operations without a handler.
 */
export function guessesNeeded(sources: Sources): Map<string, number> {
  const paths = [...sources.keys()];
  const needed = new Map<string, number>();
  for (const [key, operation] of Object.entries(operationsByName)) {
    if (operation.service === 'gateway') continue;
    const right = guessesOf(operation, paths).findIndex((path) => handles(sources.get(path) ?? '', key));
    needed.set(key, right < 0 ? Number.POSITIVE_INFINITY : right + 1);
  }
  return needed;
}

/** Whether a file names the operation among those that it handles. */
const handles = (text: string, key: string): boolean =>
  /\bhandle(?:Write|Stored)?\(/.test(text) &&
  new RegExp(`Operations\\.${key}\\b|\\b${key}\\b[^;]*= \\w+Operations;`).test(text);
