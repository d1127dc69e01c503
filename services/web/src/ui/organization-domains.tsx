import type { FormEvent } from 'react';
import { isOwner } from '../state/permissions.ts';
import { t } from '../text/text.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { Check } from './field.tsx';
import { Outcome } from './outcome.tsx';
import { ProblemField, problemsOf } from './problem-field.tsx';
import { useSelected, useSession } from './session-context.tsx';
import { useForm } from './use-form.ts';
import { useTask } from './use-task.ts';

/** The domains whose addresses may join. Owners alone change them. */
export function Domains() {
  const { client } = useSession();
  const model = useSelected((state) => state.model);
  const task = useTask();
  const { domains } = model.realmCollections;
  const mayChange = isOwner(model);
  return (
    <>
      <Check
        label={t('onlyAddressesOfTheseDomainsMayJoin')}
        isOn={model.realm.settings.emails_restricted_to_domains === true}
        isDisabled={task.isBusy || domains.length === 0 || !mayChange}
        onChange={(isOn) => void task.run(() => client.updateRealm({ emails_restricted_to_domains: isOn }), t('saved'))}
      />
      <ul className="cards">
        {domains.map(({ domain, allow_subdomains }) => (
          <li key={domain} className="row">
            <bdi className="grow">{domain}</bdi>
            <Check
              label={t('subdomainsOf', { name: domain })}
              isOn={allow_subdomains}
              isDisabled={task.isBusy || !mayChange}
              onChange={(isOn) =>
                void task.run(() => client.updateRealmDomain({ domain, allow_subdomains: isOn }), t('saved'))
              }
            />
            {mayChange && (
              <ConfirmButton
                action={t('remove')}
                full={t('removeName', { name: domain })}
                isDisabled={task.isBusy}
                onConfirm={() => void task.run(() => client.removeRealmDomain({ domain }), t('removed'))}
              />
            )}
          </li>
        ))}
      </ul>
      {domains.length === 0 && <p className="faint">{t('thereAreNoDomainsYet')}</p>}
      <Outcome task={task} />
      {mayChange ? <NewDomain /> : <p className="faint">{t('onlyOwnersChangeTheDomains')}</p>}
    </>
  );
}

function NewDomain() {
  const { client } = useSession();
  const form = useForm({ domain: '', allow_subdomains: false });
  const { domain, allow_subdomains: hasSubdomains } = form.values;
  const task = useTask();
  const problems = problemsOf(task, { domain: /domain/i });
  const add = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(() => form.add((values) => client.addRealmDomain(values)), t('theDomainIsAdded'));
  };
  return (
    <form className="stack" onSubmit={add}>
      <ProblemField label={t('domainSuchAs', { example: 'example.com' })} problem={problems.of('domain')}>
        <input
          className="code"
          value={domain}
          required
          maxLength={253}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => form.set({ domain: event.target.value })}
        />
      </ProblemField>
      <Check
        label={t('alsoItsSubdomains')}
        isOn={hasSubdomains}
        onChange={(allow_subdomains) => form.set({ allow_subdomains })}
      />
      <button type="submit" className="primary" disabled={task.isBusy || domain.trim() === ''}>
        {t('addTheDomain')}
      </button>
      <Outcome task={problems.rest} />
    </form>
  );
}
