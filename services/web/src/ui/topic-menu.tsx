import * as Menu from '@radix-ui/react-dropdown-menu';
import { type ReactNode, useState } from 'react';
import { policyOf, type TopicPolicy, topicPolicies } from '../state/model.ts';
import { mayMoveOut, mayMoveWithin, mayResolve } from '../state/permissions.ts';
import { isResolved, keyOf, type Place, toggledResolved } from '../state/place.ts';
import { t } from '../text/text.ts';
import { topicName } from './names.ts';
import { openDialog } from './open-dialog.ts';
import { useSelected, useSession } from './session-context.tsx';

interface TopicMenuProps {
  place: Place & { kind: 'topic' };
}

/** Menu of a topic: notification level and actions. */
export function TopicMenu({ place }: TopicMenuProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Menu.Root modal={false} open={isOpen} onOpenChange={setOpen}>
      <Menu.Trigger className="topic-menu" title={t('actionsOnThisTopic')}>
        <span aria-hidden="true">⋮</span>
        <span className="hidden">{t('actionsOnTopic', { topic: topicName(place.topic) })}</span>
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
    [topicPolicies.followed, t('follow')],
    ...(isChannelMuted || policy === topicPolicies.unmuted ? [[topicPolicies.unmuted, t('unmute')] as const] : []),
    [topicPolicies.inherited, isChannelMuted ? t('mutedAsTheChannel') : t('neitherFollowNorMute')],
    [topicPolicies.muted, t('mute')],
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
            <Action onSelect={() => void session.actions.markRead([...unread])}>{t('markAllAsRead')}</Action>
          </>
        )}
        <Changes place={place} />
      </Menu.Content>
    </Menu.Portal>
  );
}

function Changes({ place }: TopicMenuProps) {
  const session = useSession();
  const model = useSelected((state) => state.model);
  const isChangeable = place.topic !== '' && mayResolve(model, place);
  const isMovable = mayMoveWithin(model, place) || mayMoveOut(model, place);
  if (!isChangeable && !isMovable) return null;
  return (
    <>
      <Menu.Separator className="menu-line" />
      {isChangeable && (
        <Action onSelect={() => void session.actions.rename(place, toggledResolved(place.topic))}>
          {isResolved(place.topic) ? t('markAsUnresolved') : t('markAsResolved')}
        </Action>
      )}
      {isMovable && (
        // The menu gives the focus back to its button first, so that the dialog gives it back there, too.
        <Action onSelect={() => setTimeout(() => openDialog({ name: 'move', place }))}>{t('moveOrRename')}</Action>
      )}
    </>
  );
}

function Action({ onSelect, children }: { onSelect: () => void; children: ReactNode }) {
  return (
    <Menu.Item className="menu-item" onSelect={onSelect}>
      <span className="tick" />
      <span className="label">{children}</span>
    </Menu.Item>
  );
}
