import { type CommonConfig, openOwner, type Process, type Running } from '@natter/service-kit';
import { queueHandlers } from './queues.ts';
import { readLogHandlers } from './read-log.ts';
import { registerHandlers } from './register.ts';
import { startSweep } from './sweep.ts';

/** Registers queues, expires them, keeps the log in Redis complete, reads what is older. */
export async function startEventQueue(process: Process<CommonConfig>): Promise<Running> {
  const owner = openOwner(process, 'event_queue');
  const sweep = startSweep(owner, process);
  await process.bus.serve('event-queue', '1.0.0', [
    ...registerHandlers(owner, process.bus),
    ...queueHandlers(owner, process.bus),
    ...readLogHandlers(owner),
  ]);
  return {
    stop: async () => {
      await sweep.stop();
      await owner.close();
    },
  };
}
