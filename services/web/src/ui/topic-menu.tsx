import * as Menu from '@radix-ui/react-dropdown-menu';
import { useState } from 'react';
import { policyOf, type TopicPolicy, topicPolicies } from '../state/model.ts';
import { keyOf, type Place } from '../state/place.ts';
import { topicName } from './names.ts';
import { useSelected, useSession } from './session-context.tsx';

interface TopicMenuProps {
  place: Place & { kind: 'topic' };
}

/** How the reader is told of a topic. */
export function TopicMenu({ place }: TopicMenuProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Menu.Root modal={false} open={isOpen} onOpenChange={setOpen}>
      <Menu.Trigger className="topic-menu" title="Actions on this topic">
        <span aria-hidden="true">⋮</span>
        <span className="hidden">Actions on topic {topicName(place.topic)}</span>
      </Menu.Trigger>
      {isOpen && <Choices place={place} />}
    </Menu.Root>
  );
}

function Choices({ place }: TopicMenuProps) {
  const session = useSession();
  const policy = useSelected(({ model }) => policyOf(model, place));
  const isChannelMuted = useSelected(({ model }) => model.channels.get(place.channelId)?.isMuted ?? false);
  const unread = useSelected(({ model }) => model.unread.get(keyOf(place))?.ids);
  const choices: readonly (readonly [TopicPolicy, string])[] = [
    [topicPolicies.followed, 'Follow'],
    ...(isChannelMuted || policy === topicPolicies.unmuted ? [[topicPolicies.unmuted, 'Unmute'] as const] : []),
    [topicPolicies.inherited, isChannelMuted ? 'Muted as the channel' : 'Neither follow nor mute'],
    [topicPolicies.muted, 'Mute'],
  ];
  return (
    <Menu.Portal>
      <Menu.Content className="menu" align="end" sideOffset={4} collisionPadding={8}>
        <Menu.RadioGroup
          value={String(policy)}
          onValueChange={(value) => void session.actions.chooseTopicPolicy(place, Number(value) as TopicPolicy)}
        >
          {choices.map(([one, label]) => (
            <Menu.RadioItem key={one} value={String(one)} className="menu-item">
              <span className="tick" aria-hidden="true">
                {one === policy ? '✓' : ''}
              </span>
              <span className="label">{label}</span>
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        {unread && (
          <>
            <Menu.Separator className="menu-line" />
            <Menu.Item className="menu-item" onSelect={() => void session.actions.markRead([...unread])}>
              <span className="tick" />
              <span className="label">Mark all as read</span>
            </Menu.Item>
          </>
        )}
      </Menu.Content>
    </Menu.Portal>
  );
}
