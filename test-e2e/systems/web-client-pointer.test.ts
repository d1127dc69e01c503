import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDialog } from '../web-look.ts';
import { openWeb, type Web } from '../web-visit.ts';

/** The web client in Chromium, by somebody who holds the button of the pointer for a while. */

let web: Web;
beforeAll(async () => {
  web = await openWeb();
});
afterAll(() => web?.close());

test('a click chooses a section although the section before it gets its content meanwhile', async () => {
  const { page, faults } = await web.visit('member');
  const loaded = Promise.withResolvers<void>();
  await page.route('**/json/invites', async (route) => {
    await loaded.promise;
    await route.continue();
  });
  const dialog = await openDialog(page, 'Organization');
  await dialog.locator('[aria-current=page]', { hasText: 'Invitations' }).waitFor();
  await dialog.getByRole('button', { name: 'Groups' }).hover();
  await page.mouse.down();
  loaded.resolve();
  await dialog.getByText('There are none.').waitFor();
  await page.mouse.up();
  await dialog.locator('[aria-current=page]', { hasText: 'Groups' }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a dialog stays when a selection of text ends beside it, and goes when the page beside it is clicked', async () => {
  const { page, faults } = await web.visit('member');
  await page.keyboard.press('Control+k');
  const dialog = page.getByRole('dialog');
  const field = dialog.locator('input');
  await field.fill('gen');
  const box = await field.boundingBox();
  if (!box) throw new Error('the field is not visible');
  await page.mouse.move(box.x + 20, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(5, box.y + box.height / 2);
  await page.mouse.up();
  expect(await field.inputValue()).toBe('gen');
  await page.mouse.click(5, box.y);
  await dialog.waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await page.context().close();
});
