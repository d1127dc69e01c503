import type { ChatEvent } from '@natter/client';
import { expect, test } from 'vitest';
import { alertOf } from './alerts.ts';
import type { Model } from './model.ts';
import { keyOf, topicPlace } from './place.ts';

const reader = 7;
const writer = 8;
const silenced = 9;
const [loud, quiet, busy] = [3, 4, 5];
const channel = { name: 'x', color: '', isPrivate: false, isPinned: false, wildcardsNotify: null };
const settings = { enable_desktop_notifications: true, wildcard_mentions_notify: true };

const modelWith = (changed: Record<string, boolean> = {}, policies: [number, string, number][] = []): Model =>
  ({
    ownId: reader,
    muted: new Set([silenced]),
    channels: new Map([
      [loud, { ...channel, id: loud, isMuted: false, notifies: null }],
      [quiet, { ...channel, id: quiet, isMuted: true, notifies: null, wildcardsNotify: false }],
      [busy, { ...channel, id: busy, isMuted: false, notifies: true }],
    ]),
    policies: new Map(policies.map(([id, topic, policy]) => [keyOf(topicPlace(id, topic)), policy])),
    writing: { settings: { ...settings, ...changed } },
  }) as unknown as Model;

const inChannel = (channelId: number, flags: string[] = [], senderId = writer): ChatEvent =>
  ({
    type: 'message',
    id: 1,
    flags,
    message: { id: 9, type: 'stream', stream_id: channelId, subject: 'T', sender_id: senderId, content: '' },
  }) as unknown as ChatEvent;
const direct = {
  type: 'message',
  id: 1,
  flags: [],
  message: { id: 9, type: 'private', display_recipient: [{ id: reader }, { id: writer }], sender_id: writer },
} as unknown as ChatEvent;

const followed = 3;
const unmuted = 2;
const muted = 1;

test.each<[what: string, event: ChatEvent, model: Model, isTold: boolean]>([
  ['a direct message', direct, modelWith(), true],
  ['a message of a muted person', inChannel(loud, ['mentioned'], silenced), modelWith(), false],
  ['a direct message, switched off', direct, modelWith({ enable_desktop_notifications: false }), false],
  ['a message in a channel', inChannel(loud), modelWith(), false],
  [
    'a message in any channel, if enabled',
    inChannel(loud),
    modelWith({ enable_stream_desktop_notifications: true }),
    true,
  ],
  ['a message in a channel that notifies', inChannel(busy), modelWith(), true],
  ['a message in a muted topic of such a channel', inChannel(busy), modelWith({}, [[busy, 't', muted]]), false],
  ['a mention', inChannel(loud, ['mentioned']), modelWith(), true],
  ['a mention in a muted channel', inChannel(quiet, ['mentioned']), modelWith(), true],
  ['a mention that is read', inChannel(loud, ['mentioned', 'read']), modelWith(), false],
  ['a mention in an own message', inChannel(loud, ['mentioned'], reader), modelWith(), false],
  ['a mention of everybody', inChannel(loud, ['stream_wildcard_mentioned']), modelWith(), true],
  [
    'a mention of everybody, if disabled',
    inChannel(loud, ['topic_wildcard_mentioned']),
    modelWith({ wildcard_mentions_notify: false }),
    false,
  ],
  ['a mention of everybody in a muted channel', inChannel(quiet, ['stream_wildcard_mentioned']), modelWith(), false],
  [
    'a mention of everybody in a channel that disables it',
    inChannel(quiet, ['stream_wildcard_mentioned']),
    modelWith({}, [[quiet, 't', unmuted]]),
    false,
  ],
  ['a message in a followed topic', inChannel(loud), modelWith({}, [[loud, 't', followed]]), false],
  [
    'a message in a followed topic, if enabled',
    inChannel(quiet),
    modelWith({ enable_followed_topic_desktop_notifications: true }, [[quiet, 't', followed]]),
    true,
  ],
])('whether %s notifies the user', (_what, event, model, isTold) => {
  expect(alertOf(model, event) !== undefined).toBe(isTold);
});

test('a message is on screen in its topic, its channel and the feed, but in the feed only if it is not muted', () => {
  expect(alertOf(modelWith(), inChannel(loud, ['mentioned']))?.shownIn).toEqual(['topic:3:t', 'channel:3', 'feed']);
  expect(alertOf(modelWith(), inChannel(quiet, ['mentioned']))?.shownIn).toEqual(['topic:4:t', 'channel:4']);
});
