import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** A message in a list on screen, and the pixels from the upper edge of the list to it. */
export interface Place {
  id: number;
  top: number;
}

/** Calls a function with the list on screen. The code is text, because this program has no types of the DOM. */
export const ofList = <T>(page: Page, code: string): Promise<T> =>
  page.evaluate<T>(`(${code})(document.querySelector('.messages'))`);

/** The message at the top of the list, which may begin above its edge; null if there is none. */
const placeOnScreen = (page: Page): Promise<Place | null> =>
  ofList(
    page,
    `(list) => {
      const edge = list?.getBoundingClientRect().top;
      const first = [...(list?.querySelectorAll('[data-message]') ?? [])]
        .map((one) => ({ id: Number(one.dataset.message), box: one.getBoundingClientRect() }))
        .filter(({ box }) => box.bottom > edge)
        .sort((a, b) => a.box.top - b.box.top)[0];
      return first ? { id: first.id, top: first.box.top - edge } : null;
    }`,
  );

/** A list moves in frames, of which a busy machine may draw few. */
const passFrames = `new Promise((end) => {
  let frames = 0;
  requestAnimationFrame(function count() {
    if (++frames === 8) end();
    else requestAnimationFrame(count);
  });
})`;

/** The place when the list has measured what it shows, and moves it no more. */
export async function restingPlace(page: Page): Promise<Place> {
  let last = await placeOnScreen(page);
  const rests = async (): Promise<boolean> => {
    const earlier = last;
    await page.evaluate(passFrames);
    last = await placeOnScreen(page);
    return last !== null && last.id === earlier?.id && last.top === earlier.top;
  };
  await expect.poll(rests, { interval: 500 }).toBe(true);
  if (!last) throw new Error('The list is empty');
  return last;
}
