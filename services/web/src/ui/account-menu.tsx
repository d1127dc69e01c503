import * as Menu from '@radix-ui/react-dropdown-menu';
import { useRef, useState } from 'react';
import { t } from '../text/text.ts';
import { useAskedLogOut } from './log-out.ts';
import { openDialog } from './open-dialog.ts';
import { useSelected } from './session-context.tsx';
import { StatusEmoji } from './status.tsx';
import { applyTheme, currentTheme, type Theme, themeNames, themes } from './theme.ts';

const dialogs = [
  ['status', t('setAStatus')],
  ['drafts', t('draftsAndScheduled')],
  ['channels', t('channels')],
  ['settings', t('settings')],
  ['organization', t('organization')],
] as const;

export function AccountMenu() {
  const name = useSelected(({ model }) => model.people.get(model.ownId)?.name ?? '');
  const ownId = useSelected(({ model }) => model.ownId);
  const isGuest = useSelected(({ model }) => model.rules.isGuest);
  const [theme, setTheme] = useState(currentTheme);
  const form = useRef<HTMLFormElement>(null);
  const choose = (value: string): void => {
    applyTheme(value as Theme);
    setTheme(value as Theme);
  };
  return (
    <>
      <form ref={form} method="post" action="/accounts/logout" onSubmit={useAskedLogOut(false)} hidden />
      <Menu.Root modal={false}>
        <Menu.Trigger className="account" aria-label={t('accountOf', { name })}>
          <span className="name">{name}</span>
          <StatusEmoji userId={ownId} />
          <span aria-hidden="true">▾</span>
        </Menu.Trigger>
        <Menu.Content className="menu" align="start" sideOffset={4}>
          <Menu.Label className="menu-label">{t('appearance')}</Menu.Label>
          <Menu.RadioGroup value={theme} onValueChange={choose}>
            {themes.map((one) => (
              <Menu.RadioItem key={one} value={one} className="menu-item" onSelect={(event) => event.preventDefault()}>
                <span className="tick" aria-hidden="true">
                  {one === theme ? '✓' : ''}
                </span>
                {themeNames[one]}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          <Menu.Separator className="menu-line" />
          {dialogs.map(([dialog, text]) =>
            dialog !== 'organization' || !isGuest ? (
              <Menu.Item key={dialog} className="menu-item" onSelect={() => openDialog({ name: dialog })}>
                <span className="tick" />
                {text}
              </Menu.Item>
            ) : null,
          )}
          <Menu.Separator className="menu-line" />
          <Menu.Item className="menu-item" onSelect={() => form.current?.requestSubmit()}>
            <span className="tick" />
            {t('logOut')}
          </Menu.Item>
        </Menu.Content>
      </Menu.Root>
      <button type="button" className="new-message" onClick={() => openDialog({ name: 'new' })}>
        {t('newMessage')}
      </button>
    </>
  );
}
