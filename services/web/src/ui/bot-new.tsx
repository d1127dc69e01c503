import { type FormEvent, useState } from 'react';
import { botKinds } from '../state/bots.ts';
import { t } from '../text/text.ts';
import { botCauses, CallFields, kinds, NameField, PictureField } from './bot-fields.tsx';
import { Field } from './field.tsx';
import { Outcome } from './outcome.tsx';
import { ProblemField, problemsOf } from './problem-field.tsx';
import { SelectOptions } from './select-options.tsx';
import { useSession } from './session-context.tsx';
import { useFile } from './use-file.ts';
import { useForm } from './use-form.ts';
import { useTask } from './use-task.ts';

const empty = { name: '', shortName: '', url: '', interface: 1 };

/** Creates a bot of the person. People who may not create all kinds create bots that only send. */
export function NewBot({ mayAll }: { mayAll: boolean }) {
  const { client } = useSession();
  const { values, set, add } = useForm(empty);
  const [chosen, setChosen] = useState<number>(botKinds.generic);
  const picture = useFile();
  const { file } = picture;
  const task = useTask();
  const problems = problemsOf(task, botCauses);
  const kind = mayAll ? chosen : botKinds.incoming;
  const isOutgoing = kind === botKinds.outgoing;
  const create = (event: FormEvent): void => {
    event.preventDefault();
    const send = () =>
      client.createBot({
        full_name: values.name,
        short_name: values.shortName,
        bot_type: kind,
        ...(isOutgoing ? { payload_url: values.url, interface_type: values.interface } : {}),
        ...(file ? { file } : {}),
      });
    void task.run(async () => {
      await add(send);
      picture.end(file);
    }, t('theBotIsInTheListIt'));
  };
  const isComplete =
    values.name.trim() !== '' && values.shortName.trim() !== '' && (!isOutgoing || values.url.trim() !== '');
  return (
    <form className="stack" onSubmit={create}>
      <NameField value={values.name} problem={problems.of('name')} onChange={(name) => set({ name })} />
      <ProblemField label={t('firstPartOfItsAddressSuchAs')} problem={problems.of('shortName')}>
        <input
          value={values.shortName}
          required
          maxLength={60}
          pattern="[A-Za-z0-9._\-]+"
          title={t('lettersDigitsDotsLinesAndUnderscores')}
          autoComplete="off"
          onChange={(event) => set({ shortName: event.target.value })}
        />
      </ProblemField>
      <Field label={t('botKind')}>
        <select value={kind} onChange={(event) => setChosen(Number(event.target.value))}>
          <SelectOptions of={kinds.filter(([value]) => mayAll || value === botKinds.incoming)} />
        </select>
      </Field>
      {isOutgoing && (
        <CallFields
          value={values.url}
          isRequired
          problem={problems.of('url')}
          onChange={(url) => set({ url })}
          format={values.interface}
          onFormat={(format) => set({ interface: format })}
        />
      )}
      <PictureField label={t('pictureOfTheBot')} problem={problems.of('picture')} picture={picture} />
      <button type="submit" className="primary" disabled={task.isBusy || !isComplete}>
        {t('createTheBot')}
      </button>
      <Outcome task={problems.rest} />
    </form>
  );
}
