import { ChatError, type Page, userOperations } from '@natter/contracts';
import { type Handlers, handle, handleStored, type Owner } from '@natter/service-kit';
import type { UsersConfig } from '../model/config.ts';
import type { Guesses } from '../model/credentials/guesses.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import type { Mailer } from '../model/mail/mailer.ts';
import { escaped, plainPage } from '../model/plain-page.ts';
import { createSessionToken } from '../model/sessions.ts';
import { addSession } from './add-session.ts';
import { checkLogin, lockLogin, mailLogin } from './check-login.ts';

interface LoginTools {
  seal: KeySeal;
  mailer: Mailer;
  guesses: Guesses;
  config: UsersConfig;
}

type Stored = { sealed_session: string; location: string } | { refusal: Page };

/** The page to log in, and what it sends. A login always begins a new session, whatever cookies its request has. */
export function loginHandlers({ database }: Owner, { seal, mailer, guesses, config }: LoginTools): Handlers {
  const lifetimeSeconds = config.NATTER_SESSION_MAX_SECONDS;
  return [
    handle(userOperations.loginPage, async (_, { next }) => loginForm(200, { next: localPath(next) })),

    handleStored(
      userOperations.login,
      async ({ meta, write }, params): Promise<Stored> => {
        const [username, location] = [params.username.trim(), localPath(params.next)];
        try {
          const account = await checkLogin(database, guesses, meta, { username, password: params.password });
          const session = createSessionToken();
          return await write(async (work) => {
            await lockLogin(work, account);
            await addSession(work, { userId: account.id, session, client: meta.client }, config);
            await mailLogin(work, mailer, meta, account);
            return { sealed_session: seal.seal(session), location };
          });
        } catch (error) {
          // People see a page. Programs that were refused for their rate get the error itself.
          if (!(error instanceof ChatError) || error.status !== 401) throw error;
          return { refusal: loginForm(401, { next: location, username, problem: error.message }) };
        }
      },
      (stored) => {
        if ('refusal' in stored) return stored.refusal;
        const session = { token: seal.open(stored.sealed_session), max_age_seconds: lifetimeSeconds };
        return { ...plainPage(303, 'Logged in', ''), location: stored.location, session };
      },
    ),
  ];
}

/** A path of this origin: anything that a browser would read as another host leads to the root. */
function localPath(next = ''): string {
  const isPath = /^\/(?![/\\])[\x21-\x7e]*$/.test(next) && !next.includes('\\');
  return isPath ? next : '/';
}

interface LoginForm {
  next: string;
  username?: string;
  problem?: string;
}

const loginForm = (status: number, { next, username = '', problem }: LoginForm): Page =>
  plainPage(
    status,
    'Log in',
    `${problem === undefined ? '' : `<p class="problem" role="alert">${escaped(problem)}</p>`}<form method="post" action="/accounts/login">
<input type="hidden" name="next" value="${escaped(next)}">
<label>Email <input name="username" type="email" required autocomplete="username" value="${escaped(username)}"></label>
<label>Password <input name="password" type="password" required autocomplete="current-password"></label><button>Log in</button></form>
<p><a href="/accounts/password/reset">Forgotten password</a></p>`,
  );
