import type { ChatEvent } from '@natter/client';
import { expect, test } from 'vitest';
import { applyToFolders, type Folders, foldersOf, sectionsOf } from './folders.ts';
import type { Channel } from './members.ts';

const channel = (id: number, name: string, given: Partial<Channel> = {}): Channel => ({
  id,
  name,
  color: '#000000',
  isPrivate: false,
  isMuted: false,
  isPinned: false,
  isArchived: false,
  folderId: null,
  permissions: {} as Channel['permissions'],
  notifies: null,
  wildcardsNotify: null,
  ...given,
});
const raw = (id: number, order: number, name = `folder ${id}`) => ({ id, name, order, is_archived: false });
const folders = foldersOf([raw(1, 1, 'Later'), raw(2, 0, 'Sooner')]);
const sections = (channels: Channel[], known: Folders = folders) =>
  sectionsOf(channels, known).map(({ name, channels: all }) => [name, all.map((one) => one.name)]);

test('channels are listed by folder, pinned ones first and others last', () => {
  const channels = [
    channel(1, 'b', { folderId: 1 }),
    channel(2, 'a', { folderId: 1 }),
    channel(3, 'c', { folderId: 2 }),
    channel(4, 'd', { folderId: 2, isPinned: true }),
    channel(5, 'e', { folderId: 99 }),
    channel(6, 'f'),
  ];
  expect(sections(channels)).toEqual([
    ['Pinned channels', ['d']],
    ['Sooner', ['c']],
    ['Later', ['a', 'b']],
    ['Other channels', ['e', 'f']],
  ]);
});

test('if folders are not used, there is one list', () => {
  expect(sections([channel(1, 'b'), channel(2, 'a')])).toEqual([['Channels', ['a', 'b']]]);
  expect(sections([channel(1, 'b', { isPinned: true })])).toEqual([['Pinned channels', ['b']]]);
  expect(sections([])).toEqual([]);
});

test('events update the folders', () => {
  const events = [
    { type: 'channel_folder', op: 'add', channel_folder: raw(3, 2, 'New') },
    { type: 'channel_folder', op: 'update', channel_folder_id: 1, data: { name: 'Last' } },
    { type: 'channel_folder', op: 'update', channel_folder_id: 3, data: { is_archived: true } },
    { type: 'channel_folder', op: 'reorder', order: [3, 1, 2] },
  ] as unknown as ChatEvent[];
  expect(events.reduce(applyToFolders, folders)).toEqual([
    { id: 3, name: 'New', isArchived: true },
    { id: 1, name: 'Last', isArchived: false },
    { id: 2, name: 'Sooner', isArchived: false },
  ]);
});
