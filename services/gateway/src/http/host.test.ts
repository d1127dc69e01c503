import { expect, test } from 'vitest';
import { isHost } from './host.ts';

test('a host is a name or an address, with or without a port', () => {
  for (const host of ['chat.example.com', 'CHAT.example.com:80', 'a', '127.0.0.1:9991', '[::1]', '[2001:db8::1]:443'])
    expect([host, isHost(host)]).toEqual([host, true]);
  const refused = [
    '',
    ' ',
    ':80',
    'a:',
    'a:0',
    'a:65536',
    'a:80:80',
    'a:8o',
    'chat.example:80@evil.example',
    'user@evil.example',
    'evil.example/chat',
    'evil.example\\chat',
    'a b',
    'a,b',
    'a?b',
    'a#b',
    'a%2eb',
    'ä.example',
    '-a',
    '.a',
    '[::1',
    '::1',
    '[fe80::1%25eth0]',
    '[1.2.3.4]',
    '[::1]x',
    'http://a',
    'a\u0000',
    `${'a'.repeat(255)}`,
  ];
  for (const host of refused) expect([host, isHost(host)]).toEqual([host, false]);
});
