import { type PictureKind, pictureKinds } from '../state/realm-collections.ts';
import { t } from '../text/text.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { Outcome } from './outcome.tsx';
import { ProblemField, problemsOf } from './problem-field.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useTask } from './use-task.ts';

const labels: Record<PictureKind, string> = {
  icon: t('iconOfTheOrganization'),
  logo: t('logoForLightColors'),
  night_logo: t('logoForDarkColors'),
};

/** The icon of the organization, and its logos. */
export function RealmPictures() {
  return (
    <>
      {pictureKinds.map((kind) => (
        <RealmPicture key={kind} kind={kind} />
      ))}
    </>
  );
}

function RealmPicture({ kind }: { kind: PictureKind }) {
  const { client } = useSession();
  const { url, isOwn } = useSelected(({ model }) => model.realmCollections.pictures[kind]);
  const task = useTask();
  const problems = problemsOf(task, { picture: /./ });
  const upload = (file: File): Promise<unknown> =>
    kind === 'icon' ? client.addRealmIcon({ file }) : client.addRealmLogo({ night: kind === 'night_logo', file });
  const reset = (): Promise<unknown> =>
    kind === 'icon' ? client.removeRealmIcon() : client.removeRealmLogo({ night: kind === 'night_logo' });
  return (
    <fieldset className="stack">
      <legend>{labels[kind]}</legend>
      <img className="realm-picture" data-night={kind === 'night_logo'} src={pathOf(url)} alt={labels[kind]} />
      <ProblemField label={t('newPicture')} problem={problems.of('picture')}>
        <input
          type="file"
          accept="image/*"
          onChange={(event) => {
            const file = event.target.files?.[0];
            if (file) void task.run(() => upload(file), t('thePictureIsChanged'));
            event.target.value = '';
          }}
        />
      </ProblemField>
      {isOwn && (
        <ConfirmButton
          action={t('useThePictureOfTheServer')}
          full={t('resetPicture', { name: labels[kind] })}
          isDisabled={task.isBusy}
          onConfirm={() => void task.run(reset, t('thePictureIsRemoved'))}
        />
      )}
      <Outcome task={problems.rest} />
    </fieldset>
  );
}

/** The server gives the address of the organization, which this page may have reached by another one. */
function pathOf(address: string): string {
  const { pathname, search } = new URL(address, location.origin);
  return `${pathname}${search}`;
}
