import { expect, test } from 'vitest';
import { problemOfEvent } from './index.ts';

const ok = (event: Record<string, unknown>) => expect(problemOfEvent({ id: 1, ...event })).toBeUndefined();
const wrong = (event: Record<string, unknown>) => expect(problemOfEvent({ id: 1, ...event })).toBeTypeOf('string');

test('an event has all fields of its operation and no others', () => {
  ok({ type: 'heartbeat' });
  wrong({ type: 'heartbeat', op: 'add' });
  wrong({ type: 'heartbeat', at: 1 });
  const attachment = { type: 'attachment', attachment: { id: 1 }, upload_space_used: 5 };
  ok({ ...attachment, op: 'remove' });
  wrong({ ...attachment, op: 'add' });
});

test('an update of a user changes exactly one known property', () => {
  const change = (person: object) => ({ type: 'realm_user', op: 'update', person: { user_id: 1, ...person } });
  ok(change({ full_name: 'Ada' }));
  ok(change({ delivery_email: null }));
  wrong(change({}));
  wrong(change({ full_name: 'Ada', role: 400 }));
  wrong(change({ shoe_size: 40 }));
});

test('the value of a changed property has the type of that property', () => {
  const channel = (property: string, value: unknown) => ({
    type: 'stream',
    op: 'update',
    stream_id: 1,
    name: 'x',
    property,
    value,
  });
  ok(channel('folder_id', null));
  wrong(channel('name', 1));
  wrong(channel('color', '#fff'));
  const setting = (property: string, value: unknown) => ({ type: 'user_settings', op: 'update', property, value });
  ok(setting('enter_sends', true));
  wrong(setting('enter_sends', 'yes'));
  wrong(setting('default_language', 'de'));
  ok({ ...setting('default_language', 'de'), language_name: 'Deutsch' });
});

test('fields that belong together are all present or all absent', () => {
  const moved = { orig_subject: 'a', subject: 'b', topic_links: [], propagate_mode: 'change_all' };
  const update = {
    type: 'update_message',
    user_id: 1,
    rendering_only: false,
    message_id: 2,
    message_ids: [2],
    flags: [],
    edit_timestamp: 3,
  };
  const inChannel = { ...update, stream_id: 1, stream_name: 'x' };
  ok({ ...inChannel, ...moved });
  ok({ ...inChannel, ...moved, new_stream_id: 4 });
  const { subject: _, topic_links: __, ...kept } = moved;
  ok({ ...inChannel, ...kept, new_stream_id: 4 });
  wrong({ ...inChannel, ...kept });
  wrong({ ...inChannel, ...kept, subject: 'b', new_stream_id: 4 });
  const rendered = { ...update, user_id: null, rendering_only: true, content: 'a', rendered_content: '<p>a</p>' };
  ok(rendered);
  wrong({ ...rendered, rendering_only: false });
  wrong({ ...rendered, user_id: 1 });
  wrong({ ...rendered, orig_content: 'b' });
  wrong({ ...rendered, ...moved });
  wrong({ ...update, user_id: null, rendering_only: true });
  wrong({ ...inChannel, subject: 'b', topic_links: [] });
  wrong({ ...update, new_stream_id: 4 });
  const flags = { type: 'update_message_flags', operation: 'remove', op: 'remove', messages: [1], all: false };
  ok({ ...flags, flag: 'starred' });
  wrong({ ...flags, flag: 'read' });
  ok({ ...flags, flag: 'read', message_details: { 1: { type: 'private', user_ids: [2] } } });
});
