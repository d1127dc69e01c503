import { environmentsOf } from '@natter/admin/credentials';
import { fullNameOf, kubernetesSecrets } from '@natter/admin/kubernetes-secrets';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isWorkload, of, podOf } from './objects.ts';
import { helm, render } from './render.ts';

const services = ['gateway', 'users', 'channels', 'messaging', 'scheduler', 'presence', 'event-queue'];

describe.skipIf(helm === undefined)(
  `in the chart${helm === undefined ? ': SKIPPED: there is no helm binary' : ''}`,
  () => {
    test('the Secrets that `natter credentials` prints are complete and have the names that the pods expect', () => {
      process.env.NATTER_SECRET = 'of this test';
      const urls = { postgres: 'postgres://o:p@pg/natter', redis: 'redis://redis', nats: 'nats://nats' };
      const printed = parseAllDocuments(kubernetesSecrets('natter', environmentsOf(urls))).map((document) =>
        document.toJS(),
      );
      const keys = new Map(printed.map(({ metadata, stringData }) => [metadata.name, Object.keys(stringData)]));
      const wanted = render()
        .filter(isWorkload)
        .flatMap((workload) => podOf(workload).containers);
      for (const { envFrom } of wanted) expect([...keys.keys()]).toContain(envFrom[0].secretRef.name);
      for (const service of services) {
        const expected = [
          'NATTER_NATS_URL',
          'NATTER_REDIS_URL',
          ...(service === 'gateway' ? [] : ['NATTER_POSTGRES_URL']),
          ...(service === 'users' ? ['NATTER_BOT_KEY_SECRET'] : []),
        ];
        expect(keys.get(`natter-${service}-credentials`)).toEqual(expected);
      }
      expect(keys.get('natter-operator-credentials')).toContain('NATTER_POSTGRES_ADMIN_URL');
    });

    test('`natter credentials --release` names the Secrets as the chart does for every name of a release', () => {
      for (const release of ['chat', 'my-natter', 'a-release-with-a-name-of-34-letters']) {
        const users = of(render({ release }), 'Deployment').find(({ metadata }) => metadata.name.endsWith('-users'));
        const [secret] = users ? podOf(users).containers[0].envFrom : [];
        expect(kubernetesSecrets(fullNameOf(release), { users: {} })).toContain(`name: ${secret.secretRef.name}\n`);
      }
    });
  },
);
