import { useState } from 'react';
import { t } from '../text/text.ts';
import { BotList } from './bot-list.tsx';
import { SearchField } from './search-field.tsx';
import { useSelected } from './session-context.tsx';

const shown = 50;

/** All bots of the organization. */
export function OrganizationBots() {
  const bots = useSelected(({ model }) => model.bots);
  const [filter, setFilter] = useState('');
  const wanted = filter.trim().toLowerCase();
  const found = [...bots.values()]
    .filter(({ name, email }) => `${name} ${email}`.toLowerCase().includes(wanted))
    .sort((a, b) => a.name.localeCompare(b.name));
  return (
    <>
      <SearchField label={t('findBots')} text={filter} onChange={setFilter} />
      <BotList bots={found} shown={shown} empty={t('thereAreNoSuchBots')} />
    </>
  );
}
