import type { ChatEvent } from '@natter/client';
import { locale, t } from '../text/text.ts';
import type { Channel } from './members.ts';

export interface Folder {
  id: number;
  name: string;
  /** Archived folders have no channels, and keep their position. */
  isArchived: boolean;
}

/** All folders of channels, in their order. */
export type Folders = readonly Folder[];

type FolderEvent = Extract<ChatEvent, { type: 'channel_folder'; op: 'add' }>;
type RawFolder = Pick<FolderEvent['channel_folder'], 'id' | 'name' | 'order' | 'is_archived'>;

const folderOf = ({ id, name, is_archived }: RawFolder): Folder => ({ id, name, isArchived: is_archived });

export const foldersOf = (all: readonly RawFolder[]): Folders =>
  [...all].sort((a, b) => a.order - b.order || a.id - b.id).map(folderOf);

export function applyToFolders(folders: Folders, event: ChatEvent): Folders {
  if (event.type !== 'channel_folder') return folders;
  switch (event.op) {
    case 'add':
      return [...folders.filter(({ id }) => id !== event.channel_folder.id), folderOf(event.channel_folder)];
    case 'update': {
      const { name, is_archived } = event.data;
      return folders.map((one) =>
        one.id === event.channel_folder_id
          ? { ...one, name: name ?? one.name, isArchived: is_archived ?? one.isArchived }
          : one,
      );
    }
    default:
      return event.order.flatMap((id) => folders.filter((one) => one.id === id));
  }
}

/** Channels that the sidebar shows together. */
export interface Section {
  key: string;
  name: string;
  channels: readonly Channel[];
}

const { compare } = new Intl.Collator(locale);

/** Pinned channels, the channels of each folder, and the others. Sections without channels are left out. */
export function sectionsOf(channels: Iterable<Channel>, folders: Folders): Section[] {
  const sorted = [...channels].sort((a, b) => compare(a.name, b.name));
  const known = new Set(folders.map(({ id }) => id));
  const inFolder = (one: Channel): boolean => one.folderId !== null && known.has(one.folderId);
  const unpinned = sorted.filter(({ isPinned }) => !isPinned);
  const others = unpinned.filter((one) => !inFolder(one));
  const named = [
    { key: 'pinned', name: t('pinnedChannels'), channels: sorted.filter(({ isPinned }) => isPinned) },
    ...folders.map(({ id, name }) => ({
      key: `folder ${id}`,
      name,
      channels: unpinned.filter(({ folderId }) => folderId === id),
    })),
  ].filter((one) => one.channels.length > 0);
  if (others.length === 0) return named;
  const isAlone = named.every(({ key }) => key === 'pinned');
  return [...named, { key: 'others', name: isAlone ? t('channels') : t('otherChannels'), channels: others }];
}
