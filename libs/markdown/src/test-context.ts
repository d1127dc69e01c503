import type { RenderContext } from './context.ts';
import { emptyContext } from './render.ts';

const users = [
  { id: 7, name: 'Ann Lee' },
  { id: 8, name: 'A <b>' },
];
const channels = [
  { id: 5, name: 'my team' },
  { id: 6, name: 'core' },
  { id: 9, name: 'R&D 100%' },
];

export const testContext: RenderContext = {
  ...emptyContext,
  realmUrl: 'http://localhost:9991',
  users,
  groups: [{ id: 3, name: 'dev' }],
  channels,
  linkifiers: [
    { id: 1, pattern: '#(?P<id>[0-9]+)', urlTemplate: 'https://bugs.test/{id}' },
    { id: 2, pattern: '(?P<repo>\\w+/\\w+)#(?P<id>\\d+)', urlTemplate: 'https://git.test/{+repo}/pull/{id}' },
    { id: 3, pattern: 'q:(?P<q>\\S+)', urlTemplate: 'https://find.test/{?q}' },
  ],
  emoji: [{ id: '9', name: 'party_parrot', url: '/user_avatars/1/emoji/images/9.gif' }],
  translateEmoticons: true,
};
