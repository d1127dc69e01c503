import type { AddressInfo, Socket } from 'node:net';
import type { Executor } from '@natter/database';
import { createLogger } from '@natter/service-kit';
import { SMTPServer } from 'smtp-server';
import { expect, test } from 'vitest';
import { createMailer } from './mailer.ts';
import { forgottenPasswordMail } from './mails.ts';

const nothingCounted = { run: async () => 0, any: async () => [] } as unknown as Executor;

test('a mail reaches the server in the language of who gets it, and its subject is one line whatever the realm is called', async () => {
  const received: { to: string[]; text: string }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        received.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString('utf8'),
        });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  const { port } = server.server.address() as AddressInfo;
  const url = `smtp://127.0.0.1:${port}`;
  const outcomes: string[] = [];
  const mailer = createMailer({
    url,
    onOutcome: (outcome) => outcomes.push(outcome),
    limits: { person: 1, address: 1, realm: 1 },
    from: 'Natter <noreply@natter.example>',
    log: createLogger('test', 'fatal'),
  });
  const values = { realm: 'Us\r\nBcc: all@natter.example', link: 'https://natter.example/x' };
  const mailing = {
    realmId: 1,
    kind: 'password',
    by: { network: '192.0.2.1' },
    addresses: ['ann@natter.example'],
  } as const;
  for (const to of await mailer.count(nothingCounted, mailing)) mailer.send(to, forgottenPasswordMail('de', values));
  await mailer.close();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  expect(outcomes).toEqual(['sent']);
  expect(received).toHaveLength(1);
  expect(received[0]?.to).toEqual(['ann@natter.example']);
  const [head] = received[0]?.text.split('\r\n\r\n') ?? [];
  expect(head).toMatch(/^Subject: =\?UTF-8\?Q\?Ein_neues_Passwort/m);
  expect(head).not.toMatch(/^Bcc:/m);
  expect(received[0]?.text).toContain('https://natter.example/x');
});

test('mails that no server takes are counted', async () => {
  const send = async (url: string | undefined): Promise<string[]> => {
    const outcomes: string[] = [];
    const mailer = createMailer({
      url,
      onOutcome: (outcome) => outcomes.push(outcome),
      limits: { person: 1, address: 1, realm: 1 },
      from: 'Natter <noreply@natter.example>',
      log: createLogger('test', 'fatal'),
    });
    const mailing = {
      realmId: 1,
      kind: 'password',
      by: { network: '192.0.2.1' },
      addresses: ['ann@natter.example'],
    } as const;
    const values = { realm: 'Us', link: 'https://natter.example/x' };
    for (const to of await mailer.count(nothingCounted, mailing)) mailer.send(to, forgottenPasswordMail('en', values));
    await mailer.close();
    return outcomes;
  };
  // Nothing listens at port 1.
  expect(await send('smtp://127.0.0.1:1')).toEqual(['failed']);
  expect(await send(undefined)).toEqual(['off']);
});

test('a mail is sent again while the server closes connections or refuses it for now', async () => {
  let refusals = 0;
  let received = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onMailFrom: (_, __, done) =>
      done(refusals++ === 0 ? Object.assign(new Error('try again later'), { responseCode: 451 }) : undefined),
    onData: (stream, _, done) => {
      stream.resume();
      stream.on('end', () => {
        received++;
        done();
      });
    },
  });
  server.on('error', () => undefined);
  server.server.once('connection', (socket: Socket) => socket.destroy());
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  const outcomes: string[] = [];
  const mailer = createMailer({
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    onOutcome: (outcome) => outcomes.push(outcome),
    limits: { person: 1, address: 1, realm: 1 },
    from: 'Natter <noreply@natter.example>',
    log: createLogger('test', 'fatal'),
  });
  const mailing = { realmId: 1, kind: 'password', by: { network: '192.0.2.1' }, addresses: ['ann@x.example'] } as const;
  const values = { realm: 'Us', link: 'https://natter.example/x' };
  for (const to of await mailer.count(nothingCounted, mailing)) mailer.send(to, forgottenPasswordMail('en', values));
  await expect.poll(() => outcomes).toEqual(['sent']);
  await mailer.close();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  expect([refusals, received]).toEqual([2, 1]);
});
