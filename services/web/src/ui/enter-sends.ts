import { useState } from 'react';
import { store, stored } from '../browser/storage.ts';

const key = 'natter enter begins a line';

/** Whether Enter alone sends a text, as was chosen in this browser. Keyboards of phones have no other key for a new line. */
export const enterSends = (): boolean => stored(key) === null && !matchMedia('(hover: none)').matches;

/** The choice, and a function that changes it. */
export function useEnterSends(): [isChosen: boolean, choose: (sends: boolean) => void] {
  const [isChosen, setChosen] = useState(() => stored(key) === null);
  const choose = (sends: boolean): void => {
    store(key, sends ? undefined : 'yes');
    setChosen(sends);
  };
  return [isChosen, choose];
}
