import { memo, useId, useMemo, useState } from 'react';
import { store, stored } from '../browser/storage.ts';
import { type Section, sectionsOf } from '../state/folders.ts';
import type { Channel } from '../state/members.ts';
import { t } from '../text/text.ts';
import { UnreadCount } from './phrase.tsx';
import { useSelected } from './session-context.tsx';
import { EntryLink } from './sidebar-entry.tsx';
import { Topics } from './sidebar-topics.tsx';

type Unread = ReadonlyMap<number, number>;

/** The subscribed channels, by folder. */
export function Channels({ unread }: { unread: Unread }) {
  const channels = useSelected(({ model }) => model.channels);
  const folders = useSelected(({ model }) => model.folders);
  const sections = useMemo(() => sectionsOf(channels.values(), folders), [channels, folders]);
  if (sections.length === 0)
    return (
      <>
        <h2>{t('channels')}</h2>
        <p className="hint">{t('youAreSubscribedToNoChannels')}</p>
      </>
    );
  return sections.map((section) => <ChannelSection key={section.key} section={section} unread={unread} />);
}

/** Folded sections are remembered in this browser. */
const keyOfFold = (section: string): string => `natter folded ${section}`;

function ChannelSection({ section: { key, name, channels }, unread }: { section: Section; unread: Unread }) {
  const id = useId();
  const [isFolded, setFolded] = useState(() => stored(keyOfFold(key)) !== null);
  const toggle = (): void => {
    store(keyOfFold(key), isFolded ? undefined : 'yes');
    setFolded(!isFolded);
  };
  const count = channels.reduce((sum, channel) => sum + (unread.get(channel.id) ?? 0), 0);
  return (
    <>
      <h2>
        <button type="button" className="section" aria-expanded={!isFolded} aria-controls={id} onClick={toggle}>
          <span aria-hidden="true">{isFolded ? '▸' : '▾'}</span>
          <bdi className="label">{name}</bdi>
          {isFolded && count > 0 && <UnreadCount of={count} />}
        </button>
      </h2>
      <ul id={id} aria-label={name} hidden={isFolded}>
        {!isFolded &&
          channels.map((channel) => (
            <ChannelEntry key={channel.id} channel={channel} unread={unread.get(channel.id) ?? 0} />
          ))}
      </ul>
    </>
  );
}

/** Drawn again only when the channel or its count changes: there may be hundreds. */
const ChannelEntry = memo(function ChannelEntry({ channel, unread }: { channel: Channel; unread: number }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li data-muted={channel.isMuted}>
      <div className="channel">
        <button type="button" className="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>
          <span className="hidden">{t('topicsOf', { channel: channel.name })}</span>
        </button>
        <EntryLink
          narrow={{ kind: 'channel', channelId: channel.id }}
          label={channel.name}
          unread={unread}
          color={channel.color}
        />
      </div>
      {isOpen && <Topics channel={channel} />}
    </li>
  );
});
