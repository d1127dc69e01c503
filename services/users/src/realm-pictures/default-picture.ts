import { realmOperations } from '@natter/contracts';
import { type Handlers, handle } from '@natter/service-kit';
import { page } from '../model/images/static-page.ts';

export function pictureHandlers(): Handlers {
  return [
    handle(realmOperations.defaultPicture, async (_, { kind }) => page('image/svg+xml', kind === 'icon' ? icon : logo)),
  ];
}

const mark =
  '<rect width="64" height="64" rx="14" fill="#2b6cb0"/><path d="M18 46V18h6l16 18V18h6v28h-6L24 28v18z" fill="#fff"/>';
// Clients keep the address of the icon that former releases sent.
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">${mark}</svg>`;
const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 64">${mark}<text x="76" y="45" font-family="sans-serif" font-size="36" fill="#2b6cb0">natter</text></svg>`;
