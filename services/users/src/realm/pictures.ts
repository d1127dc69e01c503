import { type Page, realmOperations } from '@natter/contracts';
import { emojiNames } from '@natter/markdown';
import { type Handlers, handle } from '@natter/service-kit';

/** The path of the picture of a realm that has none of its own. */
export const pictureOf = (kind: 'icon' | 'logo'): string => `/static/natter-${kind}.svg`;
export const emojiDataUrl = (realmUrl: string): string => `${realmUrl}/static/emoji_data.json`;

export function pictureHandlers(): Handlers {
  const codeToNames = JSON.stringify({ code_to_names: namesByCode() });
  return [
    handle(realmOperations.emojiData, async () => page('application/json', codeToNames)),
    handle(realmOperations.defaultPicture, async (_, { kind }) => page('image/svg+xml', kind === 'icon' ? icon : logo)),
  ];
}

const page = (content_type: string, body: string): Page => ({
  status: 200,
  content_type,
  body,
  is_base64: false,
  cache_seconds: 86_400,
});

const namesByCode = (): Record<string, string[]> => Object.fromEntries(emojiNames);

const mark =
  '<rect width="64" height="64" rx="14" fill="#2b6cb0"/><path d="M18 46V18h6l16 18V18h6v28h-6L24 28v18z" fill="#fff"/>';
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">${mark}</svg>`;
const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 64">${mark}<text x="76" y="45" font-family="sans-serif" font-size="36" fill="#2b6cb0">natter</text></svg>`;
