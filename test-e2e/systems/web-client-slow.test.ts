import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onePixel } from '../one-pixel.ts';
import { openDialog } from '../web-look.ts';
import { leave, message, openWeb, type Web } from '../web-visit.ts';

/** These tests hold requests of the web client in Chromium and act before the server responds. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

const box = (page: Page) => page.locator('#compose');

interface Work {
  /** Begins with the request. */
  begin: () => Promise<void>;
  /** Happens before the server gets the request. */
  meanwhile: () => Promise<void>;
  /** Answers the request instead of the server. */
  refusal?: string;
}

/** Holds the writes to an address for a time. Returns when the page has handled the answer. */
async function slowly(page: Page, path: RegExp, { begin, meanwhile, refusal }: Work): Promise<void> {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  await page.route(path, async (route) => {
    if (route.request().method() === 'GET') return route.continue();
    asked.resolve();
    await released.promise;
    await (refusal === undefined
      ? route.continue()
      : route.fulfill({ status: 400, json: { result: 'error', msg: refusal, code: 'BAD_REQUEST' } }));
  });
  const isWrite = (one: Request) => one.method() !== 'GET' && path.test(one.url());
  // Chromium reports some answers that the page has read entirely as aborted. `finished()` would wait forever for those.
  const ended = new Set<Request>();
  const end = (one: Request): void => void ended.add(one);
  page.on('requestfinished', end);
  page.on('requestfailed', end);
  // A busy system may have no time for the first attempt.
  const answer = page.waitForResponse((one) => isWrite(one.request()) && one.status() !== 503);
  await begin();
  await asked.promise;
  await meanwhile();
  released.resolve();
  const request = (await answer).request();
  await expect.poll(() => ended.has(request)).toBe(true);
  page.off('requestfinished', end);
  page.off('requestfailed', end);
  // The page handles the answers in their order.
  await page.evaluate("fetch('/json/server_settings').then((answer) => answer.text())");
  await page.unroute(path);
}

test('a text that is written while another one is being scheduled stays, and so does a new dialog', async () => {
  const visit = await web.visit('member', web.topicPath('later'));
  const { page } = visit;
  const member = web.clientOf('member');
  const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await box(page).fill('For tomorrow');
  await page.getByRole('button', { name: 'Send later' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send later' });
  await slowly(page, /\/json\/scheduled_messages$/, {
    begin: () => dialog.getByRole('button', { name: 'Schedule' }).click(),
    meanwhile: async () => {
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await box(page).fill('For today');
      await box(page).press('Escape');
      await page.keyboard.press('?');
      await shortcuts.waitFor();
    },
  });
  await shortcuts.waitFor();
  await page.keyboard.press('Escape');
  await shortcuts.waitFor({ state: 'detached' });
  expect(await box(page).inputValue()).toBe('For today');
  const scheduled = (await member.getScheduledMessages()).scheduled_messages.map(({ content }) => content);
  expect(scheduled).toEqual(['For tomorrow']);
  const drafts = async () => (await member.getDrafts()).drafts.map(({ content }) => content);
  await expect.poll(drafts).toEqual(['For today']);
  // The text of the scheduled message is changed, and changed again before it is saved.
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Drafts' }).click();
  const list = page.getByRole('dialog');
  await list.getByRole('button', { name: 'Edit' }).click();
  const text = list.getByLabel('Text');
  await text.fill('For Monday');
  await slowly(page, /\/json\/scheduled_messages\/\d+$/, {
    begin: () => list.getByRole('button', { name: 'Save' }).click(),
    meanwhile: () => text.fill('For Tuesday'),
  });
  expect(await text.inputValue()).toBe('For Tuesday');
  await list.getByRole('button', { name: 'Change the time' }).click();
  const time = list.getByLabel('Date and time');
  await time.fill('2090-01-01T10:00');
  const save = list.getByRole('button', { name: 'Save the time' });
  await slowly(page, /\/json\/scheduled_messages\/\d+$/, {
    begin: () => save.click(),
    meanwhile: () => time.fill('2090-01-02T10:00'),
  });
  expect(await time.inputValue()).toBe('2090-01-02T10:00');
  await leave(visit);
});

test('a text that is written while an edit is being saved is saved next', async () => {
  const { id } = await web
    .clientOf('member')
    .sendMessage({ type: 'channel', to: web.general, topic: 'edits', content: 'One' });
  const visit = await web.visit('member', web.topicPath('edits'));
  const { page } = visit;
  await message(page, 'One').waitFor();
  await page.locator(`[data-message="${id}"]`).focus();
  await page.keyboard.press('e');
  const editor = page.getByRole('textbox', { name: 'Text of the message' });
  await editor.fill('One two');
  await slowly(page, /\/json\/messages\/\d+$/, {
    begin: () => editor.press('Enter'),
    meanwhile: () => editor.pressSequentially(' three'),
  });
  expect(await editor.inputValue()).toBe('One two three');
  await editor.press('Enter');
  await editor.waitFor({ state: 'detached' });
  await message(page, 'One two three').waitFor();
  await leave(visit);
});

test('a text that is written while a poll is being changed stays', async () => {
  await web
    .clientOf('member')
    .sendMessage({ type: 'channel', to: web.general, topic: 'poll', content: '/poll Lunch?\npizza' });
  const visit = await web.visit('member', web.topicPath('poll'));
  const { page } = visit;
  const option = page.getByRole('textbox', { name: 'New option' });
  await option.fill('salad');
  await slowly(page, /\/json\/submessage$/, {
    begin: () => option.press('Enter'),
    meanwhile: () => option.fill('soup'),
  });
  await page.getByRole('button', { name: '0 votes: salad' }).waitFor();
  expect(await option.inputValue()).toBe('soup');
  await page.getByRole('button', { name: 'Change the question' }).click();
  const question = page.getByRole('textbox', { name: 'Question' });
  await question.fill('Supper?');
  await slowly(page, /\/json\/submessage$/, {
    begin: () => question.press('Enter'),
    meanwhile: () => question.fill('Supper at seven?'),
  });
  expect(await question.inputValue()).toBe('Supper at seven?');
  await leave(visit);
});

test('a field that is edited in a form of the organization while another entry is added stays, and the others are emptied', async () => {
  const visit = await web.visit('owner');
  const { page } = visit;
  const dialog = await openDialog(page, 'Organization');
  await dialog.getByRole('button', { name: 'Allowed domains' }).click();
  const domain = dialog.getByLabel(/^Domain, such as/);
  await domain.fill('one.example');
  await slowly(page, /\/json\/realm\/domains$/, {
    begin: () => domain.press('Enter'),
    meanwhile: () => domain.fill('two.example'),
  });
  expect(await domain.inputValue()).toBe('two.example');
  await dialog.getByRole('button', { name: 'Code playgrounds' }).click();
  const name = dialog.getByLabel('Name of the playground');
  await name.fill('One');
  await dialog.getByLabel('Language of the code').fill('Python');
  await dialog.getByLabel(/^Address, such as/).fill('https://play.example.com/?code={code}');
  await slowly(page, /\/json\/realm\/playgrounds$/, {
    begin: () => name.press('Enter'),
    meanwhile: () => name.fill('Two'),
  });
  expect(await name.inputValue()).toBe('Two');
  expect(await dialog.getByLabel('Language of the code').inputValue()).toBe('');
  await dialog.getByRole('button', { name: 'Invitations' }).click();
  const addresses = dialog.getByLabel(/^Email addresses/);
  await addresses.fill('one@one.example');
  await slowly(page, /\/json\/invites$/, {
    begin: () => dialog.getByRole('button', { name: 'Send invitations' }).click(),
    meanwhile: () => addresses.fill('two@one.example'),
  });
  expect(await addresses.inputValue()).toBe('two@one.example');
  await leave(visit);
});

test('forms that are opened and filled in while a channel or a group is created stay', async () => {
  const owner = web.clientOf('owner');
  const subscribers = [web.system.people.owner.user_id];
  await owner.createChannel({ name: 'cellar', subscribers, invite_only: false });
  await owner.createUserGroup({ name: 'cooks', description: '', members: subscribers });
  const visit = await web.visit('owner');
  const { page } = visit;
  const cases = [
    { list: 'Channels', kind: 'channel', other: 'cellar', name: 'Name', path: /\/json\/channels\/create$/ },
    {
      list: 'Organization',
      kind: 'group',
      other: 'cooks',
      name: 'Name of the group',
      path: /\/json\/user_groups\/create$/,
    },
  ];
  for (const { list, kind, other, name, path } of cases) {
    const dialog = await openDialog(page, list);
    if (kind === 'group') await dialog.getByRole('button', { name: 'Groups' }).click();
    await dialog.getByRole('button', { name: `New ${kind}` }).click();
    const ownName = dialog.getByLabel(name, { exact: true }).first();
    const details = dialog.getByRole('button', { name: `Details of ${other}` });
    const theirName = dialog.getByLabel(`Name of the ${kind}`).last();
    const create = dialog.getByRole('button', { name: /^Create/ });
    await ownName.fill('first');
    await slowly(page, path, {
      begin: () => create.click(),
      meanwhile: async () => {
        await details.click();
        await theirName.fill('half-written');
        await ownName.fill('second');
      },
    });
    await dialog.getByRole('button', { name: 'Details of first' }).waitFor();
    expect(await theirName.inputValue()).toBe('half-written');
    expect(await ownName.inputValue()).toBe('second');
    // Nothing is typed meanwhile, so the form is closed.
    await create.click();
    await dialog.getByRole('button', { name: `New ${kind}`, expanded: false }).waitFor();
    expect(await theirName.inputValue()).toBe('half-written');
    await dialog.getByText(`The ${kind} is created.`).waitFor();
    const toggle = dialog.getByRole('button', { name: `New ${kind}` });
    expect(await toggle.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }
  await leave(visit);
});

test('a picture that is chosen while another one is being sent is sent next', async () => {
  const visit = await web.visit('owner');
  const { page } = visit;
  let dialog = await openDialog(page, 'Organization');
  const choose = (label: string, name: string) =>
    dialog.getByLabel(label).last().setInputFiles({ name, mimeType: 'image/png', buffer: onePixel });
  await dialog.getByRole('button', { name: 'Emoji' }).click();
  const add = dialog.getByRole('button', { name: 'Add the emoji' });
  await choose('Picture', 'one.png');
  await slowly(page, /\/json\/realm\/emoji\/one$/, {
    begin: () => add.click(),
    meanwhile: () => choose('Picture', 'two.png'),
  });
  await dialog.getByText(':one:').waitFor();
  const emojiName = dialog.getByLabel('Name of the emoji');
  expect(await emojiName.inputValue()).toBe('');
  await emojiName.fill('two');
  await add.click();
  await dialog.getByText(':two:').waitFor();
  // The event of the emoji may come before the answer, which empties the fields.
  await expect.poll(() => emojiName.inputValue()).toBe('');
  // The window of the browser in which the next file is chosen stays open meanwhile.
  await choose('Picture', 'three.png');
  const opened = page.waitForEvent('filechooser');
  await slowly(page, /\/json\/realm\/emoji\/three$/, {
    begin: async () => {
      await dialog.getByLabel('Picture').click();
      await opened;
      await add.click();
    },
    meanwhile: async () => undefined,
  });
  await dialog.getByText(':three:').waitFor();
  await (await opened).setFiles({ name: 'four.png', mimeType: 'image/png', buffer: onePixel });
  await add.click();
  await dialog.getByText(':four:').waitFor();
  await page.keyboard.press('Escape');
  dialog = await openDialog(page, 'Settings');
  await dialog.getByRole('button', { name: 'Bots' }).click();
  await dialog.getByLabel('Name of the bot').fill('Sailor');
  await dialog.getByLabel(/^First part of its address/).fill('sailor');
  await choose('Picture of the bot', 'one.png');
  const field = dialog.getByLabel('Picture of the bot');
  await slowly(page, /\/json\/bots$/, {
    begin: () => dialog.getByRole('button', { name: 'Create the bot' }).click(),
    meanwhile: () => choose('Picture of the bot', 'two.png'),
  });
  expect(await field.inputValue()).toContain('two.png');
  await dialog.getByRole('button', { name: 'Change Sailor' }).click();
  await choose('New picture', 'three.png');
  const save = dialog.getByRole('button', { name: 'Save the bot' });
  await slowly(page, /\/json\/bots\/\d+$/, {
    begin: () => save.click(),
    meanwhile: () => choose('New picture', 'four.png'),
  });
  await save.click();
  await dialog.getByText('Saved.').waitFor();
  await expect.poll(() => save.isDisabled()).toBe(true);
  await leave(visit);
});

test('what is entered in a dialog while it is being saved stays, and so does the dialog', async () => {
  const content = 'Move this';
  const { id } = await web
    .clientOf('member')
    .sendMessage({ type: 'channel', to: web.general, topic: 'drawer', content });
  const visit = await web.visit('member', web.topicPath('drawer'));
  const { page } = visit;
  await message(page, content).waitFor();
  const shownAt = (topic: string) =>
    page.locator('main.conversation', { hasText: `#general › ${topic}` }).locator(`[data-message="${id}"]`);
  const beginMove = async () => {
    await page.locator(`[data-message="${id}"]`).focus();
    await page.keyboard.press('m');
  };
  const cases = [
    {
      open: () => openDialog(page, 'Set a status'),
      label: 'What others read beside your name',
      button: 'Save the status',
      path: /\/json\/users\/me\/status$/,
    },
    {
      open: async () => {
        // The list may move the message away from the pointer: the focus keeps its buttons there.
        await message(page, content).focus();
        await message(page, content).getByRole('button', { name: 'More actions' }).click();
        await page.getByRole('menuitem', { name: 'Remind me' }).click();
      },
      label: 'Note',
      button: 'Remind me',
      path: /\/json\/reminders$/,
    },
    { open: beginMove, label: 'Topic', button: 'Move', path: /\/json\/messages\/\d+$/ },
  ];
  for (const { open, label, button, path } of cases) {
    await open();
    const dialog = page.getByRole('dialog');
    const field = dialog.getByLabel(label, { exact: true });
    const save = dialog.getByRole('button', { name: button, exact: true });
    await field.fill('first');
    await slowly(page, path, { begin: () => save.click(), meanwhile: () => field.fill('second') });
    await dialog.getByText('Saved.').waitFor();
    expect(await field.inputValue()).toBe('second');
    // The page has followed the message before it is moved again.
    if (button === 'Move') await shownAt('first').waitFor();
    await save.click();
    await dialog.waitFor({ state: 'detached' });
  }
  await shownAt('second').waitFor();
  await leave(visit);
});

test('a refusal that arrives after its dialog was closed is shown by a notice, also over another dialog', async () => {
  const visit = await web.visit('member');
  const { page } = visit;
  const dialog = await openDialog(page, 'Set a status');
  await dialog.getByLabel('What others read beside your name').fill('Away');
  const notice = page.getByRole('alert').filter({ hasText: 'No status today.' });
  const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await slowly(page, /\/json\/users\/me\/status$/, {
    begin: () => dialog.getByRole('button', { name: 'Save the status' }).click(),
    meanwhile: async () => {
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.locator('main.conversation h1').click();
      await page.keyboard.press('?');
      await shortcuts.waitFor();
    },
    refusal: 'No status today.',
  });
  await shortcuts.getByRole('alert').filter({ hasText: 'No status today.' }).waitFor();
  await page.keyboard.press('Escape');
  await shortcuts.waitFor({ state: 'detached' });
  await notice.getByRole('button', { name: 'Close' }).click();
  await notice.waitFor({ state: 'detached' });
  await leave(visit);
});

test('holders that are added to a permission while it is being saved are saved next', async () => {
  const visit = await web.visit('owner');
  const { page } = visit;
  const dialog = await openDialog(page, 'Organization');
  await dialog.getByRole('button', { name: 'Permissions' }).click();
  await dialog.getByLabel('Create groups', { exact: true }).selectOption('Certain people and groups');
  const { member, member2 } = web.system.people;
  const person = dialog.getByLabel('Add a person or group: Create groups');
  const add = async ({ full_name }: { full_name: string }): Promise<void> => {
    await person.fill(full_name);
    await person.press('Enter');
    await dialog.getByRole('button', { name: `Remove ${full_name}` }).waitFor();
  };
  const save = dialog.getByRole('button', { name: 'Save Create groups' });
  const holders = async () =>
    (await web.clientOf('owner').register({ fetch_event_types: ['realm'], event_types: [] })) as unknown;
  const ids = (...people: { user_id: number }[]) => people.map(({ user_id }) => user_id);
  const holding = (...people: { user_id: number }[]) => ({
    realm_can_create_groups: expect.objectContaining({ direct_members: ids(...people) }) as unknown,
  });
  await add(member);
  await slowly(page, /\/json\/realm$/, { begin: () => save.click(), meanwhile: () => add(member2) });
  expect(await holders()).toMatchObject(holding(member));
  await dialog.getByRole('button', { name: `Remove ${member2.full_name}` }).waitFor();
  await save.click();
  await save.waitFor({ state: 'detached' });
  expect(await holders()).toMatchObject(holding(member, member2));
  await leave(visit);
});
