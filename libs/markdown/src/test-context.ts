import type { RenderContext } from './context.ts';
import { emptyContext } from './render.ts';

export const testContext: RenderContext = {
  ...emptyContext,
  realmUrl: 'http://localhost:9991',
  users: [
    { id: 7, name: 'Ann Lee' },
    { id: 8, name: 'A <b>' },
    { id: 12, name: 'Gone Person', isDeactivated: true },
  ],
  groups: [
    { id: 3, name: 'dev' },
    { id: 4, name: 'role:members' },
    { id: 11, name: 'old crew', isDeactivated: true },
  ],
  channels: [
    { id: 5, name: 'my team' },
    { id: 6, name: 'core' },
    { id: 9, name: 'R&D 100%' },
  ],
  topics: [{ channelId: 6, name: 'Lunch', messageId: 42 }],
  linkifiers: [
    { id: 1, pattern: '#(?P<id>[0-9]+)', urlTemplate: 'https://bugs.test/{id}' },
    { id: 2, pattern: '(?P<repo>\\w+/\\w+)#(?P<id>\\d+)', urlTemplate: 'https://git.test/{+repo}/pull/{id}' },
    { id: 3, pattern: 'q:(?P<q>\\S+)', urlTemplate: 'https://find.test/{?q}' },
  ],
  emoji: [
    { id: '9', name: 'party_parrot', url: '/user_avatars/1/emoji/images/9.gif' },
    { id: '10', name: 'octopus', url: '/user_avatars/1/emoji/images/10.png' },
  ],
  translateEmoticons: true,
};
