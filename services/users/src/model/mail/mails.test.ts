import { expect, test } from 'vitest';
import { addressChangedMail, deactivatedMail, invitationMail, newLoginMail } from './mails.ts';

const link = 'https://chat.example.com/accounts/do_confirm/x';

test('names that users choose do not become links or headers', () => {
  const realm = 'Us\r\nBcc: all@natter.example\u202e at https://evil.example/login or www.evil.example';
  const { subject, text } = invitationMail('en', { realm, link });
  for (const shown of [subject, text.replaceAll(link, '')]) {
    expect(shown).not.toMatch(/https?:\/\//);
    expect(shown).not.toMatch(/evil\.example/);
    expect(shown).not.toContain('\u202e');
  }
  expect(subject).not.toMatch(/[\r\n]/);
  expect(text).not.toMatch(/^Bcc:/m);
  expect(text).toContain(link);
  const comment = deactivatedMail('en', { realm: 'Us', comment: 'Go to\nhttp://evil.example now. Thank you.' });
  expect(comment.text).toContain('Go to\nhttp: //evil. example now. Thank you.');
  expect(newLoginMail('en', { realm: 'Us', client: 'https://evil.example' }).text).not.toContain('evil.example');
});

test('the text of a value is not read as a template', () => {
  expect(invitationMail('en', { realm: '{link}', link }).subject).toBe('You are invited to {link}');
  expect(addressChangedMail('en', { realm: 'Us', email: 'ann@mail.example' }).text).toContain('ann@mail.example');
});
