import { sql } from '@natter/database';
import { type CommonConfig, openOwner, type Process, type Running } from '@natter/service-kit';

const hourMs = 3_600_000;

/** What messaging does by the clock: stored answers of idempotent requests are kept 24 hours. */
export async function startScheduler(process: Process<CommonConfig>): Promise<Running> {
  const owner = openOwner(process, 'messaging');
  const sweep = setInterval(() => {
    owner.database
      .run(sql.unsafe`DELETE FROM messaging.idempotency WHERE created_at < now() - interval '24 hours'`)
      .catch((error: unknown) => process.log.warn({ err: error }, 'idempotency sweep failed'));
  }, hourMs);
  return {
    stop: async () => {
      clearInterval(sweep);
      await owner.close();
    },
  };
}
