import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { findingsOf } from './browsers.ts';

/** Nothing is wider than the page, or than the dialog on it. */
const overflow = `[document.documentElement, ...document.querySelectorAll('.modal-body')]
  .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.className || one.tagName)`;

/** The page passes axe in light and dark colors, and fits a narrow phone. */
export async function checkLook(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect([colorScheme, await findingsOf(page)]).toEqual([colorScheme, []]);
  }
  const size = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 640 });
  await expect.poll(() => page.evaluate(overflow)).toEqual([]);
  if (size) await page.setViewportSize(size);
}

/** Opens a dialog of the account menu. */
export async function openDialog(page: Page, name: string): Promise<Locator> {
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name, exact: true }).click();
  const dialog = page.getByRole('dialog', { name, exact: true });
  await dialog.waitFor();
  return dialog;
}
