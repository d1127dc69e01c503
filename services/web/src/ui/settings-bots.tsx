import { may } from '../state/permissions.ts';
import { t } from '../text/text.ts';
import { BotList } from './bot-list.tsx';
import { NewBot } from './bot-new.tsx';
import { useSelected } from './session-context.tsx';

/** The bots of the person. A person owns 500 active ones at most. */
export function Bots() {
  const model = useSelected((state) => state.model);
  const own = [...model.bots.values()].filter(({ ownerId }) => ownerId === model.ownId);
  const mayAll = may(model, 'can_create_bots_group');
  return (
    <>
      {(mayAll || may(model, 'can_create_write_only_bots_group')) && <NewBot mayAll={mayAll} />}
      <h3>{t('yourBots')}</h3>
      <BotList bots={own} empty={t('youHaveNoBots')} />
    </>
  );
}
