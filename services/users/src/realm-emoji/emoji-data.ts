import { realmOperations } from '@natter/contracts';
import { emojiNames } from '@natter/markdown';
import { type Handlers, handle } from '@natter/service-kit';
import { page } from '../model/images/static-page.ts';

export function emojiDataHandlers(): Handlers {
  const codeToNames = JSON.stringify({ code_to_names: Object.fromEntries(emojiNames) });
  return [handle(realmOperations.emojiData, async () => page('application/json', codeToNames))];
}
