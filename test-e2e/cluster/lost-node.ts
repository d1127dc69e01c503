/**
 * A node with one pod of each service is lost under load. It may cost requests, which are counted, but no queue and no
 * message.
 */
import { expose, lose, place, schedulableNodes } from './disturb.ts';
import { step, until, untilReady } from './kubernetes.ts';
import { countFailures, startLoad, stopLoad, untilDelivered } from './load.ts';
import { current, ensureRealm, isHealthy, servers, services, testValues, upgrade } from './release.ts';

export async function lostNode(): Promise<void> {
  const command = process.env.NATTER_LOSE_NODE;
  if (command === undefined) return step('no node is lost: NATTER_LOSE_NODE names no command');
  const [node = '', other] = schedulableNodes();
  if (other === undefined) return step('no node is lost: the cluster has only one');
  upgrade(current, testValues(current));
  ensureRealm();
  for (const server of servers) await place(server, node);
  await expose(other);
  await until('the doctor finds nothing', 180, isHealthy);
  startLoad({ pods: 2, node });
  try {
    await untilDelivered(50);
    await countFailures(`${other} is lost, with one pod of each service`, async () => {
      const noticed = await lose(other, command);
      return ` (Kubernetes noticed after ${noticed} s)`;
    });
    // Kubernetes gives a lost node five minutes.
    await countFailures(`the pods of ${other} are replaced`, async () => {
      for (const service of services) await untilReady(service, 2, 600);
      return '';
    });
  } finally {
    stopLoad();
  }
}
