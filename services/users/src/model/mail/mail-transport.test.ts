import type { AddressInfo, Socket } from 'node:net';
import { createLogger } from '@natter/service-kit';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { expect, onTestFinished, test } from 'vitest';
import { pauseAfter } from './mail-queue.ts';
import { createMailTransport, isRefusedForGood } from './mail-transport.ts';
import { forgottenPasswordMail } from './mails.ts';

const log = createLogger('test', 'fatal');
const from = 'Natter <noreply@natter.example>';
const to = 'ann@natter.example';
const mail = { to, subject: 'Hello', text: 'https://natter.example/x' };

async function listening(options: SMTPServerOptions): Promise<{ server: SMTPServer; url: string }> {
  const server = new SMTPServer({ authOptional: true, disabledCommands: ['STARTTLS'], ...options });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  return { server, url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}` };
}

test('a mail reaches the server in the language of its receiver, with a subject of one line for any realm name', async () => {
  const received: { to: string[]; text: string }[] = [];
  const { url } = await listening({
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const addresses = session.envelope.rcptTo.map(({ address }) => address);
        received.push({ to: addresses, text: Buffer.concat(chunks).toString('utf8') });
        done();
      });
    },
  });
  const transport = createMailTransport(url, from, log);
  const values = { realm: 'Us\r\nBcc: all@natter.example', link: 'https://natter.example/x' };
  await transport.deliver({ to, ...forgottenPasswordMail('de', values) });
  transport.close();
  expect(received).toHaveLength(1);
  expect(received[0]?.to).toEqual([to]);
  const [head] = received[0]?.text.split('\r\n\r\n') ?? [];
  expect(head).toMatch(/^Subject: =\?UTF-8\?Q\?Ein_neues_Passwort/m);
  expect(head).not.toMatch(/^Bcc:/m);
  expect(received[0]?.text).toContain('https://natter.example/x');
});

const coded = (responseCode: number) => Object.assign(new Error('refused by a rule'), { responseCode });

test.each([
  ['an address that the server refuses with 550', true, { onRcptTo: (_, __, done) => done(coded(550)) }],
  ['an address that the server refuses with 451', false, { onRcptTo: (_, __, done) => done(coded(451)) }],
  [
    'a content that the server refuses with 554',
    true,
    { onData: (stream, _, done) => void stream.resume().on('end', () => done(coded(554))) },
  ],
  ['a sender that the server refuses with 550', false, { onMailFrom: (_, __, done) => done(coded(550)) }],
  ['a login that the server refuses', false, { onAuth: (_, __, done) => done(coded(535)) }],
  ['a connection that the server refuses', false, { onConnect: (_, done) => done(coded(554)) }],
] satisfies [string, boolean, SMTPServerOptions][])('the failure of %s is final: %s', async (_, expected, options) => {
  const { url } = await listening({ allowInsecureAuth: true, ...options });
  const address = 'onAuth' in options ? url.replace('//', '//name:password@') : url;
  const transport = createMailTransport(address, from, log);
  const error = await transport.deliver(mail).catch((refusal: unknown) => refusal);
  transport.close();
  expect(error).toBeInstanceOf(Error);
  expect(isRefusedForGood(error)).toBe(expected);
});

test('an unavailable server or a closed connection is not a final failure', async () => {
  const { server, url } = await listening({});
  server.server.on('connection', (socket: Socket) => socket.destroy());
  // Nothing listens at port 1.
  for (const address of ['smtp://127.0.0.1:1', url]) {
    const transport = createMailTransport(address, from, log);
    const error = await transport.deliver(mail).catch((refusal: unknown) => refusal);
    transport.close();
    expect(error).toBeInstanceOf(Error);
    expect(isRefusedForGood(error)).toBe(false);
  }
});

test('the time between attempts grows up to an hour', () => {
  expect([1, 2, 3, 12, 13, 40].map(pauseAfter)).toEqual([1, 2, 4, 2_048, 3_600, 3_600]);
});
