import { useNavigate } from '@tanstack/react-router';
import { isMuted, type Model } from '../state/model.ts';
import { directPlace, keyOf, type Narrow, type Place } from '../state/place.ts';
import { conversationsOf } from '../state/recent.ts';
import type { State } from '../state/state.ts';
import { t } from '../text/text.ts';
import { type Choice, Chooser } from './chooser.tsx';
import { Dialog } from './dialog.tsx';
import { linkTo } from './links.ts';
import { titleOf } from './names.ts';
import { closeDialog } from './open-dialog.ts';
import { useListedChannels, useSelected, useSession } from './session-context.tsx';

const maxShown = 40;
type Target = Choice & { go: (navigate: ReturnType<typeof useNavigate>) => unknown };

const targetOf = (model: Model, narrow: Narrow, hint: string): Target => ({
  key: keyOf(narrow),
  label: titleOf(model, narrow),
  hint,
  go: (navigate) => navigate(linkTo(narrow)),
});

/** All targets. Unread conversations come before recent ones. */
function targetsOf({ model, views, messages }: State): Target[] {
  const all = views.get(keyOf({ kind: 'all' }));
  const loaded = [...views.values()].map(({ narrow }) => narrow).filter(({ kind }) => kind === 'topic');
  const places: Place[] = [
    ...[...model.unread.values()].map(({ place }) => place),
    ...(all ? conversationsOf(all, messages, model.ownId).map(({ place }) => place) : []),
    ...[...model.direct.values()].sort((a, b) => b.newest - a.newest).map(({ place }) => place),
    ...(loaded as Place[]),
  ].filter((place) => place.kind === 'topic' || !isMuted(model, place));
  const isActive = new Set(
    [...model.people.values()].filter(({ id, isActive: isHere }) => isHere && !model.muted.has(id)).map(({ id }) => id),
  );
  const pages: Target[] = [
    { key: 'inbox', label: t('inbox'), hint: t('view'), go: (navigate) => navigate({ to: '/inbox' }) },
    ...(['all', 'feed', 'mentions', 'starred'] as const).map((kind) => targetOf(model, { kind }, t('view'))),
    { key: 'search', label: t('search'), hint: t('view'), go: (navigate) => navigate({ to: '/search' }) },
  ];
  const targets = [
    ...pages,
    ...[...model.channels.keys(), ...(model.listed?.keys() ?? [])].map((channelId) =>
      targetOf(model, { kind: 'channel', channelId }, t('channel')),
    ),
    ...places.map((place) => targetOf(model, place, place.kind === 'topic' ? t('topic') : t('directMessages'))),
    ...[...isActive].map((id) => targetOf(model, directPlace([id], model.ownId), t('directMessages'))),
  ];
  return [...new Map(targets.map((one) => [one.key, one])).values()];
}

/** Better matches first: the start of the name, the start of a word, anywhere. */
function rankOf(label: string, wanted: string): number {
  const text = label.toLowerCase().replace(/^#/, '');
  if (text.startsWith(wanted)) return 0;
  if (text.includes(` ${wanted}`)) return 1;
  return wanted.split(/\s+/).every((part) => text.includes(part)) ? 2 : 3;
}

export default function Palette() {
  const session = useSession();
  const navigate = useNavigate();
  useSelected((state) => state.model);
  useListedChannels();
  const targets = targetsOf(session.state);
  const choicesFor = (text: string): Target[] => {
    const wanted = text.trim().toLowerCase().replace(/^#/, '');
    const ranked = targets.map((one) => ({ one, rank: rankOf(one.label, wanted) })).filter(({ rank }) => rank < 3);
    const found = ranked.sort((a, b) => a.rank - b.rank).map(({ one }) => one);
    const words: Target = {
      key: 'search for',
      label: t('searchMessagesFor', { text: text.trim() }),
      go: (navigate) => navigate({ to: '/search', search: { q: text.trim() } }),
    };
    return [...found.slice(0, maxShown), ...(wanted === '' ? [] : [words])];
  };
  const choose = ({ go }: Target): void => {
    closeDialog();
    void go(navigate);
  };
  return (
    <Dialog title={t('goTo')} isTitleHidden>
      <Chooser
        label={t('goToAConversationPersonOrView')}
        placeholder={t('goToAConversationPersonOrView')}
        choicesFor={choicesFor}
        onChoose={choose}
      />
    </Dialog>
  );
}
