import type { Page } from '@natter/contracts';

/** The pages of an invitation: plain, in English, without scripts. */
export function formPage({
  realmName,
  key,
  email,
  given,
  problem,
}: {
  realmName: string;
  key: string;
  /** Whom the invitation is for; null where anybody may use it. */
  email: string | null;
  given: { full_name?: string; email?: string | undefined };
  problem: string | undefined;
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
${address}
<label>Full name <input name="full_name" required maxlength="100" autocomplete="name" value="${escaped(given.full_name ?? '')}"></label>
<label>Password <input name="password" type="password" required autocomplete="new-password"></label>
<button>Sign up</button>
</form>`,
  );
}

export const welcomePage = (made: { realmName: string; realmUrl: string; email: string }): Page =>
  page(
    200,
    `Welcome to ${made.realmName}`,
    `<p>Your account <strong>${escaped(made.email)}</strong> is ready. Log in with your app at <strong>${escaped(made.realmUrl)}</strong>.</p>`,
  );

export const gonePage = (): Page =>
  page(404, 'This link does not work', '<p>The invitation has expired or was revoked. Ask for a new one.</p>');

const style =
  'body{font:16px/1.5 sans-serif;max-width:26rem;margin:10vh auto;padding:0 1rem}label,button,input{display:block;width:100%;box-sizing:border-box;margin:.3rem 0}label{margin-top:1rem}input,button{padding:.5rem;font:inherit}.problem{color:#b00020}';

const page = (status: number, title: string, body: string): Page => ({
  status,
  content_type: 'text/html; charset=utf-8',
  body: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${style}</style></head>
<body><h1>${escaped(title)}</h1>
${body}
</body></html>
`,
  is_base64: false,
  cache_seconds: 0,
});

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char] ?? char);
