import { useState } from 'react';
import type { Model } from '../state/model.ts';
import { may } from '../state/permissions.ts';
import { t } from '../text/text.ts';
import { Modal } from './modal.tsx';
import { OrganizationBots } from './organization-bots.tsx';
import { DefaultChannels } from './organization-default-channels.tsx';
import { Domains } from './organization-domains.tsx';
import { EmojiList } from './organization-emoji.tsx';
import { FolderList } from './organization-folders.tsx';
import { General } from './organization-general.tsx';
import { Groups } from './organization-groups.tsx';
import { Invitations } from './organization-invitations.tsx';
import { Linkifiers } from './organization-linkifiers.tsx';
import { People } from './organization-people.tsx';
import { Permissions } from './organization-permissions.tsx';
import { RealmPictures } from './organization-pictures.tsx';
import { Playgrounds } from './organization-playgrounds.tsx';
import { ProfileFields } from './organization-profile.tsx';
import { Server } from './organization-server.tsx';
import { Sections } from './sections.tsx';
import { useSelected } from './session-context.tsx';

const isAdministrator = ({ rules }: Model): boolean => rules.isAdministrator;
const mayInvite = (model: Model): boolean =>
  may(model, 'can_invite_users_group') || may(model, 'create_multiuse_invite_group');

const sections = [
  { name: 'general', label: t('general'), Page: General, isFor: isAdministrator },
  { name: 'pictures', label: t('iconAndLogos'), Page: RealmPictures, isFor: isAdministrator },
  { name: 'permissions', label: t('permissions'), Page: Permissions, isFor: isAdministrator },
  { name: 'people', label: t('people'), Page: People, isFor: isAdministrator },
  { name: 'bots', label: t('bots'), Page: OrganizationBots, isFor: isAdministrator },
  { name: 'invitations', label: t('invitations'), Page: Invitations, isFor: mayInvite },
  { name: 'newcomers', label: t('channelsForNewcomers'), Page: DefaultChannels, isFor: isAdministrator },
  { name: 'domains', label: t('allowedDomains'), Page: Domains, isFor: isAdministrator },
  { name: 'groups', label: t('groups'), Page: Groups, isFor: () => true },
  { name: 'folders', label: t('folders'), Page: FolderList, isFor: isAdministrator },
  { name: 'profileFields', label: t('profileFields'), Page: ProfileFields, isFor: isAdministrator },
  { name: 'emoji', label: t('emoji'), Page: EmojiList, isFor: () => true },
  { name: 'linkifiers', label: t('linkifiers'), Page: Linkifiers, isFor: isAdministrator },
  { name: 'playgrounds', label: t('codePlaygrounds'), Page: Playgrounds, isFor: isAdministrator },
  { name: 'server', label: t('server'), Page: Server, isFor: isAdministrator },
] as const;

/** Settings of the organization. A person sees the sections in which they may change something. */
export default function Organization() {
  const model = useSelected((state) => state.model);
  const visible = sections.filter(({ isFor }) => isFor(model));
  const [chosen, setChosen] = useState<string>();
  const current = visible.find(({ name }) => name === chosen) ?? visible[0];
  return (
    <Modal title={t('organization')} isWide>
      <Sections
        title={t('organization')}
        names={visible.map(({ name, label }) => [name, label] as const)}
        current={current?.name ?? ''}
        onChoose={setChosen}
      />
      {current && <current.Page />}
    </Modal>
  );
}
