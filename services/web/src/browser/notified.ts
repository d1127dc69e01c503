/**
 * The messages of which this browser has notified the reader; all tabs see changes at once. The local storage is not
 * suitable: a tab may still read a value that another tab has replaced, also under a lock.
 */

/** The name in databases of earlier releases. */
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
      const notified = request.result ?? [];
      isFirst = !notified.includes(messageId);
      if (isFirst) list.put([...notified, messageId].slice(-keptIds), ownId);
    };
    transaction.oncomplete = () => resolve(isFirst);
    transaction.onabort = () => reject(transaction.error);
  });
}

/** Marks a message as notified. Only one of several tabs gets `true`; in a browser that stores nothing, each of them. */
export function isFirstToNotify(ownId: number, messageId: number): Promise<boolean> {
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
