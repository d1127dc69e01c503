/**
 * Operations that a sufficiently long run must complete successfully; otherwise their deeper states are never reached.
 */
import type { Operation } from '@natter/contracts';

/** Shorter runs are not conclusive. */
export const requestsToTell = 100_000;

/** Operations that never succeed, by reason. */
const neverSucceeding: Record<string, string> = {
  'dev-fetch-api-key': 'this server has no mode of development',
  'create-export': 'exports are not built: always refused',
  'remove-export': 'exports are not built: there is none to remove',
  'create-bigbluebutton-call': 'this server has no account with BigBlueButton: always refused',
  'get-external-content': 'external servers are not asked: pictures are fetched from public addresses alone',
  'get-messages-summary': 'this server has no language model: always refused',
  'create-zoom-call': 'this server has no account with Zoom: always refused',
  'test-push': 'no service for push notifications is built: always refused',
  'test-encrypted-push': 'no service for push notifications is built: always refused',
};

/** Operations that should have succeeded and did not, and those that succeeded although they are listed here. */
export function gapsOf(operations: readonly Operation[], succeeded: (name: string) => boolean): string[] {
  return operations.flatMap(({ name }) => {
    const reason = neverSucceeding[name];
    if (reason === undefined) return succeeded(name) ? [] : [`coverage gap: ${name} never succeeded`];
    return succeeded(name) ? [`${name} succeeded, and is listed as one that cannot: ${reason}`] : [];
  });
}
