import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { serverNow } from '../session/server-time.ts';
import type { Model } from '../state/model.ts';
import { directPlace } from '../state/place.ts';
import { lastSeenOf } from '../state/social.ts';
import { t } from '../text/text.ts';
import { Avatar } from './avatar.tsx';
import { dateLanguage, shortTime } from './dates.ts';
import { EmojiGlyph } from './emoji.tsx';
import { ownGroups } from './groups.ts';
import { linkTo } from './links.ts';
import { Modal } from './modal.tsx';
import { MuteButton } from './muted-people.tsx';
import { peopleNames, personName } from './names.ts';
import { closeDialog, openDialog } from './open-dialog.ts';
import { Outcome } from './outcome.tsx';
import { accountLink, fieldKinds, optionsOf, type ProfileField, peopleOf, webLink } from './profile-fields.ts';
import { Rendered } from './rendered.tsx';
import { roleName } from './roles.ts';
import { useSelected, useSession } from './session-context.tsx';
import { availabilityNames, PresenceDot, useAvailability } from './status.tsx';
import { useTask } from './use-task.ts';

type Client = ReturnType<typeof useSession>['client'];
type User = Awaited<ReturnType<Client['getUser']>>['user'];
type Value = NonNullable<User['profile_data']>[string];

/** A person's profile. */
export default function Person({ userId }: { userId: number }) {
  const { client } = useSession();
  const model = useSelected((state) => state.model);
  const navigate = useNavigate();
  const [known, setKnown] = useState<{ user: User; fields: readonly ProfileField[] }>();
  const task = useTask();
  const load = useCallback(async () => {
    const asked = { user_id_or_email: String(userId), include_custom_profile_fields: true };
    const [{ user }, { custom_fields: fields }] = await Promise.all([client.getUser(asked), client.getProfileFields()]);
    setKnown({ user, fields });
  }, [client, userId]);
  useEffect(() => void task.run(load), [load]);
  const write = (): void => {
    closeDialog();
    void navigate(linkTo(directPlace([userId], model.ownId)));
  };
  return (
    <Modal title={personName(model, userId)}>
      <div className="card-picture">
        <Avatar userId={userId} name={personName(model, userId)} />
      </div>
      {known && <Facts {...known} model={model} />}
      {!known && task.isBusy && <p role="status">{t('loading')}</p>}
      <Outcome task={task} />
      <p className="card-tools">
        <button type="button" className="primary" onClick={write}>
          {userId === model.ownId ? t('writeToYourself') : t('writeADirectMessage')}
        </button>
        {userId === model.ownId ? (
          <button type="button" className="plain" onClick={() => openDialog({ name: 'status' })}>
            {t('setAStatus')}
          </button>
        ) : (
          <MuteButton userId={userId} />
        )}
      </p>
    </Modal>
  );
}

function Facts({ user, fields, model }: { user: User; fields: readonly ProfileField[]; model: Model }) {
  const now = new Date(serverNow(useSession().state));
  const address = user.delivery_email ?? (user.is_bot ? user.email : undefined);
  const status = model.statuses.get(user.user_id);
  const groups = ownGroups(model).filter(({ members }) => members.has(user.user_id));
  return (
    <dl className="facts">
      <Fact name={t('status')}>
        {status && (
          <>
            {status.emoji && <EmojiGlyph emoji={status.emoji} />} {status.text}
          </>
        )}
      </Fact>
      <Fact name={t('presence')}>{!user.is_bot && user.is_active && <PresenceOf userId={user.user_id} />}</Fact>
      <Fact name={t('role')}>{roleOf(user, model)}</Fact>
      <Fact name={t('personAddress')}>{address && <a href={`mailto:${address}`}>{address}</a>}</Fact>
      <Fact name={t('localTime')}>{localTime(user.timezone, now)}</Fact>
      <Fact name={t('groups')}>{groups.map(({ name }) => name).join(', ')}</Fact>
      {fields.map((field) => {
        const value = user.profile_data?.[field.id];
        return (
          <Fact key={field.id} name={field.name}>
            {value && value.value !== '' && <FieldValue field={field} value={value} model={model} />}
          </Fact>
        );
      })}
    </dl>
  );
}

function PresenceOf({ userId }: { userId: number }) {
  const availability = useAvailability(userId);
  const lastSeen = useSelected(({ model }) => lastSeenOf(model.presence, userId));
  return (
    <>
      <PresenceDot userId={userId} />{' '}
      {availability === 'offline' ? (
        lastSeen === undefined ? (
          t('notSeenLately')
        ) : (
          t('lastSeen', { time: shortTime(lastSeen) })
        )
      ) : (
        <span aria-hidden="true">{availabilityNames[availability]}</span>
      )}
    </>
  );
}

/** A name and its value. Renders nothing if there is no value. */
function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (!children) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd dir="auto">{children}</dd>
    </>
  );
}

function roleOf(user: User, model: Model): string {
  if (!user.is_active) return t('deactivated');
  if (!user.is_bot) return roleName(user.role);
  return typeof user.bot_owner_id === 'number' ? t('botOf', { name: personName(model, user.bot_owner_id) }) : t('bot');
}

/** The time of day in a time zone; undefined if there is none, or the browser does not know it. */
function localTime(timeZone: string, now: Date): string | undefined {
  if (timeZone === '') return undefined;
  try {
    return new Intl.DateTimeFormat(dateLanguage(), { timeStyle: 'short', timeZone }).format(now);
  } catch {
    return undefined;
  }
}

interface FieldValueProps {
  field: ProfileField;
  value: Value;
  model: Model;
}

function FieldValue({ field, value: { value, rendered_value }, model }: FieldValueProps) {
  if (field.type === fieldKinds.options) return optionsOf(field).find(({ key }) => key === value)?.text ?? '';
  if (field.type === fieldKinds.people) return peopleNames(model, peopleOf(value));
  if (field.type === fieldKinds.account || field.type === fieldKinds.link) {
    const address = field.type === fieldKinds.link ? webLink(value) : accountLink(field, value);
    return address === undefined ? (
      value
    ) : (
      <a href={address} target="_blank" rel="noopener noreferrer">
        {value}
      </a>
    );
  }
  return rendered_value === undefined ? value : <Rendered html={rendered_value} />;
}
