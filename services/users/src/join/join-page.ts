import { randomUUID } from 'node:crypto';
import type { Page } from '@natter/contracts';
import { escaped, plainPage as page } from '../model/plain-page.ts';

/** The pages of an invitation: plain, in English, without scripts. */
export function formPage({
  realmName,
  key,
  email,
  given,
  problem,
  asksAddressAlone,
}: {
  realmName: string;
  key: string;
  /** The invited address; null for a reusable link. */
  email: string | null;
  given: { full_name?: string; email?: string | undefined };
  problem: string | undefined;
  /** Whether the form has a field for the address only. A mail then verifies the address; its link leads to the full form. */
  asksAddressAlone: boolean;
}): Page {
  const address =
    email === null
      ? `<label>Email <input name="email" type="email" required autocomplete="email" value="${escaped(given.email ?? '')}"></label>`
      : `<p>Your account will be <strong>${escaped(email)}</strong>.</p>`;
  return page(
    problem === undefined ? 200 : 400,
    `Join ${realmName}`,
    `${problem === undefined ? '' : `<p class="problem" role="alert">${escaped(problem)}</p>`}
<form method="post" action="/join/${encodeURIComponent(key)}">
<input name="idempotency_key" type="hidden" value="${randomUUID()}">
${address}
${asksAddressAlone ? '<button>Send me a link</button>' : accountFields(given.full_name ?? '')}
</form>`,
  );
}

const accountFields = (fullName: string): string =>
  `<label>Full name <input name="full_name" required maxlength="100" autocomplete="name" value="${escaped(fullName)}"></label>
<label>Password <input name="password" type="password" required autocomplete="new-password"></label>
<button>Sign up</button>`;

export const lookIntoMailPage = (): Page =>
  page(200, 'Look into your mail', '<p>If you can join with this address, a link is on its way.</p>');

export const welcomePage = (made: { realmName: string; realmUrl: string; email: string }): Page =>
  page(
    200,
    `Welcome to ${made.realmName}`,
    `<p>Your account <strong>${escaped(made.email)}</strong> is ready. <a href="/accounts/login">Log in</a>, or use your app with <strong>${escaped(made.realmUrl)}</strong>.</p>`,
  );

export const gonePage = (): Page =>
  page(404, 'This link does not work', '<p>The invitation has expired or was revoked. Ask for a new one.</p>');
