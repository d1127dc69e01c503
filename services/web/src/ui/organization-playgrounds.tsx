import type { FormEvent } from 'react';
import { t } from '../text/text.ts';
import { CardHead } from './card-head.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { Outcome } from './outcome.tsx';
import { ProblemField, problemsOf } from './problem-field.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useForm } from './use-form.ts';
import { useTask } from './use-task.ts';

/** Sites that can run code of a language. */
export function Playgrounds() {
  const { client } = useSession();
  const playgrounds = useSelected(({ model }) => model.realmCollections.playgrounds);
  const task = useTask();
  return (
    <>
      <p className="faint">{t('clientsOfferToRunCodeThere')}</p>
      <NewPlayground />
      <ul className="cards">
        {playgrounds.map(({ id, name, pygments_language, url_template }) => (
          <li key={id}>
            <CardHead title={name} detail={pygments_language} />
            <p className="code-line faint">{url_template}</p>
            <div className="card-tools">
              <ConfirmButton
                action={t('remove')}
                full={t('removeName', { name })}
                isDisabled={task.isBusy}
                onConfirm={() => void task.run(() => client.removePlayground({ playground_id: id }), t('removed'))}
              />
            </div>
          </li>
        ))}
      </ul>
      {playgrounds.length === 0 && <p className="faint">{t('thereAreNoPlaygroundsYet')}</p>}
      <Outcome task={task} />
    </>
  );
}

const empty = { name: '', pygments_language: '', url_template: '' };
type Values = typeof empty;
/** The fields whose values the server may refuse, with patterns of the refusals of each; the first match counts. */
const causes = { url_template: /URL template/, pygments_language: /in pygments/, name: /name/i };

function NewPlayground() {
  const { client } = useSession();
  const form = useForm(empty);
  const task = useTask();
  const problems = problemsOf(task, causes);
  const add = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(() => form.add((values) => client.addPlayground(values)), t('thePlaygroundIsAdded'));
  };
  const field = (name: keyof Values, label: string, limit: number) => (
    <ProblemField label={label} problem={problems.of(name)}>
      <input
        value={form.values[name]}
        required
        maxLength={limit}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => form.set({ [name]: event.target.value })}
      />
    </ProblemField>
  );
  return (
    <form className="stack" onSubmit={add}>
      {field('name', t('nameOfThePlayground'), 50)}
      {field('pygments_language', t('languageOfTheCode'), 40)}
      {field('url_template', t('addressLabel', { example: 'https://play.example.com/?code={code}' }), 1_000)}
      <button
        type="submit"
        className="primary"
        disabled={task.isBusy || Object.values(form.values).some((value) => value.trim() === '')}
      >
        {t('addThePlayground')}
      </button>
      <Outcome task={problems.rest} />
    </form>
  );
}
