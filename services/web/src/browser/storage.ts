/** The storage of this browser. If it is full or forbidden, changes are not kept, and everything else continues. */

export function stored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Stores a text under a name; without a text the name is removed. */
export function store(name: string, text: string | undefined): void {
  try {
    if (text === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // The storage is full or forbidden.
  }
}

/** The values in JSON whose names begin with a prefix, by the rest of their names. */
export function storedBelow(prefix: string): [string, unknown][] {
  return namesBelow(prefix).flatMap((name): [string, unknown][] => {
    try {
      return [[name.slice(prefix.length), JSON.parse(stored(name) ?? 'null')]];
    } catch {
      return [];
    }
  });
}

/** Removes the entries whose names begin with a prefix. */
export function removeBelow(prefix: string): void {
  for (const name of namesBelow(prefix)) store(name, undefined);
}

/** The names that begin with a prefix. */
export function namesBelow(prefix: string): string[] {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(prefix));
  } catch {
    return [];
  }
}
