import { useCallback, useRef, useState } from 'react';
import { locale, t } from '../text/text.ts';
import { Avatar } from './avatar.tsx';
import { Modal } from './modal.tsx';
import { personName } from './names.ts';
import { openDialog } from './open-dialog.ts';
import { SearchField } from './search-field.tsx';
import { useDirectory, useSession } from './session-context.tsx';
import { useLoaded } from './use-loaded.ts';

const shown = 100;
const { compare } = new Intl.Collator(locale);

/** The people who have read a message and send read receipts. */
export default function Readers({ messageId }: { messageId: number }) {
  const { client } = useSession();
  const load = useCallback(
    async () => (await client.getReadReceipts({ message_id: messageId })).user_ids,
    [client, messageId],
  );
  const { data: ids, loading, load: loadAgain } = useLoaded(load);
  const box = useRef<HTMLDivElement>(null);
  const retry = (): void => {
    // The button disappears.
    box.current?.focus();
    void loadAgain();
  };
  return (
    <Modal title={t('seenBy')}>
      <div ref={box} className="seen-by" tabIndex={-1}>
        {loading.isBusy && ids === undefined && <p role="status">{t('loading')}</p>}
        {loading.problem !== undefined && (
          <>
            <p role="alert">{t('readersNotLoaded', { problem: loading.problem })}</p>
            <button type="button" className="primary" onClick={retry}>
              {t('tryAgain')}
            </button>
          </>
        )}
        {ids && <People ids={ids} />}
      </div>
    </Modal>
  );
}

function People({ ids }: { ids: readonly number[] }) {
  const directory = useDirectory();
  const [filter, setFilter] = useState('');
  const wanted = filter.trim().toLowerCase();
  const found = ids
    .map((id) => ({ id, name: personName(directory, id) }))
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .sort((a, b) => compare(a.name, b.name));
  const hidden = found.length - shown;
  return (
    <>
      <p role="status">{ids.length === 0 ? t('nobodyHasReadIt') : t('readerCount', { count: ids.length })}</p>
      {ids.length > shown && <SearchField label={t('findPeople')} text={filter} onChange={setFilter} />}
      <ul className="readers" aria-label={t('seenBy')}>
        {found.slice(0, shown).map(({ id, name }) => (
          <li key={id}>
            <button type="button" onClick={() => openDialog({ name: 'person', userId: id })}>
              <Avatar userId={id} name={name} />
              <bdi>{name}</bdi>
            </button>
          </li>
        ))}
      </ul>
      {ids.length > 0 && found.length === 0 && <p className="faint">{t('nobodyHasSuchAName')}</p>}
      {hidden > 0 && <p className="faint">{t('moreTypeAName', { count: hidden })}</p>}
      <p className="faint">{t('peopleWhoHideItAreMissing')}</p>
    </>
  );
}
