import { changed, rowsOf, type Shape } from './shape.ts';
import { numberedRows } from './shapes-log.ts';

/** Tables of the simulated services: see `system/services.ts`. */
const messageTable = 'simulated.message';
export const accountTable = 'simulated.account';
const personTable = 'simulated.person';

export const serviceShapes: Shape[] = [
  [
    /^INSERT INTO simulated\.message \(realm_id, id, content\) SELECT m\..* AS number, r\.\* FROM (.*)/,
    (call, numbers = '') => {
      const rows = numberedRows<{ content: string }>(call, numbers);
      for (const { realm_id, number: id, content } of rows)
        call.tx.put(messageTable, `${realm_id} ${id}`, { realmId: realm_id, id, content });
      return changed(rows.length);
    },
  ],
  [
    /^UPDATE simulated\.account SET changes = changes \+ \? WHERE/,
    async ({ tx, values: [step, realm, user] }) => {
      const key = `${realm} ${user}`;
      await tx.lock(`${accountTable} ${key}`);
      const changes = Number(tx.get(accountTable, key)?.changes ?? 0) + Number(step);
      tx.put(accountTable, key, { changes });
      return rowsOf({ changes });
    },
  ],
  [
    /^INSERT INTO simulated\.person AS p \(realm_id, user_id, changes, applied\)/,
    async ({ tx, values: [realm, user, changes, applied] }) => {
      const key = `${realm} ${user}`;
      await tx.lock(`${personTable} ${key}`);
      const before = (tx.get(personTable, key)?.applied ?? []) as number[];
      tx.put(personTable, key, { changes: Number(changes), applied: [...before, Number(applied)] });
      return changed(1);
    },
  ],
];
