import { badRequest, jwtOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { readJwtKey } from './verify-jwt.ts';

/** Sets the key of a realm's tokens; without an algorithm and a key it is removed. */
export function setJwtKeyHandlers({ background }: Owner, seal: KeySeal): Handlers {
  return [
    handle(jwtOperations.setJwtKey, async ({ meta }, { algorithm, key }) => {
      if ((algorithm === undefined) !== (key === undefined)) throw badRequest('An algorithm needs a key');
      if (algorithm !== undefined && key !== undefined) await readJwtKey(algorithm, key);
      return background(meta.realmId, async (work) => {
        if (algorithm === undefined || key === undefined)
          await work.run(sql.unsafe`DELETE FROM users.jwt_key WHERE realm_id = ${work.realmId}`);
        else
          await work.run(sql.unsafe`
            INSERT INTO users.jwt_key (realm_id, algorithm, sealed_key) VALUES (${work.realmId}, ${algorithm}, ${seal.seal(key)})
            ON CONFLICT (realm_id) DO UPDATE SET algorithm = excluded.algorithm, sealed_key = excluded.sealed_key`);
        return {};
      });
    }),
  ];
}
