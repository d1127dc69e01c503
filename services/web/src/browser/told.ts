/**
 * The messages that this browser has told of, which all tabs see at once. The local storage does not serve: a tab may still
 * read what another one has replaced, also under a lock.
 */

const listName = 'told';
const keptIds = 200;
/** A browser that does not answer must not keep a notification back. */
const longestMs = 2_000;

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open('natter', 1);
    request.onupgradeneeded = () => request.result.createObjectStore(listName);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function mark(database: IDBDatabase, ownId: number, messageId: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(listName, 'readwrite');
    const list = transaction.objectStore(listName);
    let isFirst = false;
    const request: IDBRequest<readonly number[] | undefined> = list.get(ownId);
    request.onsuccess = () => {
      const told = request.result ?? [];
      isFirst = !told.includes(messageId);
      if (isFirst) list.put([...told, messageId].slice(-keptIds), ownId);
    };
    transaction.oncomplete = () => resolve(isFirst);
    transaction.onabort = () => reject(transaction.error);
  });
}

/** Marks a message as told of. Only one of several tabs gets `true`; where the browser stores nothing, each of them. */
export function isFirstToTell(ownId: number, messageId: number): Promise<boolean> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(true), longestMs);
    void marked(ownId, messageId).then(resolve);
  });
}

async function marked(ownId: number, messageId: number): Promise<boolean> {
  try {
    const database = await open();
    try {
      return await mark(database, ownId, messageId);
    } finally {
      database.close();
    }
  } catch {
    return true;
  }
}
