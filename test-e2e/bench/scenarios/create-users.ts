import { createRealm } from '../data/realm.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { apiRequest } from '../load/request.ts';

/** Password hash parameters of the users service. */
const argon2 = { memoryCost: 19_456, timeCost: 2 };
const inFlight = 64;

export const createUsers: Scenario = {
  name: 'create-users',
  title: `users created through the API, ${inFlight} in flight, every password hashed`,
  async run(bench) {
    const count = bench.sizes.createUsers;
    const realm = await createRealm(bench, 'newcomers', 0);
    const requests = Array.from({ length: count }, (_, index) =>
      apiRequest(realm.host, realm.owner, 'POST /users', {
        email: `new${index}@${realm.host}`,
        full_name: `Newcomer ${index}`,
        password: `correct horse battery ${index}`,
      }),
    );
    const measured = await bench.measure({ name: 'POST /users', unit: 'user', requests, inFlight, count });
    const floor = await bench.floorWork('argon2id alone', 'hash', {
      kind: 'argon2',
      times: count,
      inFlight,
      ...argon2,
    });
    return {
      measurements: [measured, floor],
      figures: [
        figure('users_per_second', measured.perSecond, '/s'),
        figure('time_to_floor', floor.perSecond / measured.perSecond, '× floor time', 'lower'),
      ],
      notes: [
        `argon2id with ${argon2.memoryCost / 1024} MiB and ${argon2.timeCost} passes, in the system and in the floor.`,
      ],
    };
  },
};
