import { sql } from './database.ts';

/** When the server was started, as text: differs between two servers, and between two runs of one. */
export const serverNow = sql.fragment`extract(epoch FROM pg_postmaster_start_time())::text`;
