import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { findingsOf } from './browsers.ts';

/** Code that lists elements with content wider than the page or the dialog. */
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

/** Antialiasing of the same element may differ between two screenshots, by at most 42 in the cases that were seen. */
const visibleDifference = 64;

/** How many pixels of each two screenshots differ visibly, in one of the colors. Images of different sizes differ entirely. */
export async function differingPixels(page: Page, before: Buffer[], after: Buffer[]): Promise<number[]> {
  const shots = [before, after].map((images) => images.map((image) => image.toString('base64')));
  // A page without the client's security policy.
  const blank = await page.context().newPage();
  const counts = await blank.evaluate(countDiffering, { shots, limit: visibleDifference });
  await blank.close();
  return counts;
}

/** Runs in the page. */
async function countDiffering({ shots, limit }: { shots: string[][]; limit: number }): Promise<number[]> {
  const pixelsOf = async (shot: string): Promise<ImageData> => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${shot}`)).blob());
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    if (!context) throw new Error('there is no canvas');
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [before = [], after = []] = await Promise.all(shots.map((images) => Promise.all(images.map(pixelsOf))));
  return before.map(({ data, width }, shot) => {
    const other = after[shot];
    if (other?.width !== width || other.data.length !== data.length) return data.length / 4;
    const isDifferent = (value: number, index: number): boolean => Math.abs(value - (other.data[index] ?? 0)) > limit;
    return new Set([...data.keys()].filter((index) => isDifferent(data[index] ?? 0, index)).map((index) => index >> 2))
      .size;
  });
}
