import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

interface Mail {
  to: string[];
  subject: string;
  text: string;
  /** The first link in the mail. */
  link: string;
}

export interface MailServer {
  url: string;
  received: Mail[];
  /** The next mail to this address that was not returned before. */
  next(to: string): Promise<Mail>;
  stop(): Promise<void>;
}

/** How a mail server treats mails. Without it, the server accepts all. */
export interface MailRules {
  /** The code with which an address is refused. */
  refusal?: (to: string) => number | undefined;
  /** Is awaited before the server confirms that it has accepted a mail. */
  beforeConfirmation?: (to: string) => Promise<void>;
}

/** A real mail server that stores the mails it receives. */
export async function startMailServer(rules: MailRules = {}): Promise<MailServer> {
  const received: Mail[] = [];
  const given = new Set<Mail>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _, done) => {
      const responseCode = rules.refusal?.(address);
      done(responseCode === undefined ? undefined : Object.assign(new Error('refused by a rule'), { responseCode }));
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const mail = parsed(Buffer.concat(chunks).toString('utf8'), session.envelope.rcptTo);
        received.push(mail);
        void Promise.resolve(rules.beforeConfirmation?.(mail.to[0] ?? '')).then(() => done());
      });
    },
  });
  // Clients that are killed reset their connections.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    received,
    async next(to) {
      for (
        const end = Date.now() + 120_000;
        Date.now() < end;
        await new Promise((resolve) => setTimeout(resolve, 20))
      ) {
        const found = received.find((mail) => mail.to.includes(to) && !given.has(mail));
        if (!found) continue;
        given.add(found);
        return found;
      }
      throw new Error(`no mail to ${to} among ${JSON.stringify(received)}`);
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function parsed(source: string, to: { address: string }[]): Mail {
  const at = source.indexOf('\r\n\r\n');
  const head = source.slice(0, at).replace(/\r\n[ \t]+/g, ' ');
  const isQuoted = /^content-transfer-encoding: quoted-printable/im.test(head);
  const body = source.slice(at + 4);
  const text = isQuoted ? unquoted(body) : body;
  const subject = /^subject: (.*)$/im.exec(head)?.[1] ?? '';
  return { to: to.map(({ address }) => address), subject, text, link: /https?:\/\/\S+/.exec(text)?.[0] ?? '' };
}

const unquoted = (text: string): string =>
  Buffer.from(
    text
      .replace(/=\r\n/g, '')
      .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');
