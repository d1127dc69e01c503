import { type Database, type Executor, sql } from '@natter/database';
import { z } from 'zod';

const jobRow = z.object({
  realm_id: z.number(),
  message_id: z.number(),
  content_hash: z.string(),
  urls: z.array(z.string()),
  is_over: z.boolean(),
});
export type PreviewJob = z.infer<typeof jobRow>;

/** Longer than a worker needs, so that a job has one worker unless the worker dies. */
const leaseSeconds = 30;
/** Later times were stored before the clock of the database was set back. */
const longestWait = sql.fragment`interval '15 minutes'`;
const maxAttempts = 3;
/** Older previews are not added: the message has been read. */
const maxAgeMinutes = 60;

/**
 * Takes jobs that no other worker has, at most `perRealm` of a realm with those that run: `running` has the realm of each. The time is that
 * of the database. Realms are found by skipping through the key, so a realm with many jobs delays no other. Jobs that
 * were never taken come first, so those that are postponed again and again delay no new ones.
 */
export const takeJobs = (
  database: Database,
  { limit, perRealm, running }: { limit: number; perRealm: number; running: readonly number[] },
): Promise<readonly PreviewJob[]> =>
  database.any(sql.type(jobRow)`
    WITH RECURSIVE realm (id) AS (
      (SELECT realm_id FROM messaging.link_preview_job ORDER BY realm_id LIMIT 1)
      UNION ALL
      SELECT n.realm_id FROM realm r CROSS JOIN LATERAL (
        SELECT realm_id FROM messaging.link_preview_job j WHERE j.realm_id > r.id ORDER BY realm_id LIMIT 1) n
    ), due AS (
      SELECT d.realm_id, d.message_id FROM realm r CROSS JOIN LATERAL (
        SELECT j.realm_id, j.message_id FROM messaging.link_preview_job j
        WHERE j.realm_id = r.id AND (j.taken_until <= clock_timestamp() OR j.taken_until > clock_timestamp() + ${longestWait})
        ORDER BY j.taken_until, j.message_id
        LIMIT greatest(0, ${perRealm}::int - cardinality(array_positions(${sql.array([...running], 'int4')}, r.id)))
        FOR UPDATE SKIP LOCKED) d
      ORDER BY random() LIMIT ${limit}
    )
    UPDATE messaging.link_preview_job j
    SET taken_until = clock_timestamp() + make_interval(secs => ${leaseSeconds}), attempts = j.attempts + 1
    FROM due WHERE j.realm_id = due.realm_id AND j.message_id = due.message_id
    RETURNING j.realm_id, j.message_id, encode(j.content_hash, 'hex') AS content_hash, j.urls,
      j.attempts > ${maxAttempts} OR j.created_at < clock_timestamp() - make_interval(mins => ${maxAgeMinutes}) AS is_over`);

const ofJob = ({ realm_id, message_id, content_hash }: PreviewJob) => sql.fragment`
  realm_id = ${realm_id} AND message_id = ${message_id} AND content_hash = decode(${content_hash}, 'hex')`;

/** Ends a job; 0 if it was ended before. A job of a newer text stays. */
export const endJob = (executor: Executor, job: PreviewJob): Promise<number> =>
  executor.run(sql.unsafe`DELETE FROM messaging.link_preview_job WHERE ${ofJob(job)}`);

/**
 * Lets the job be done again later, in about twice the time since it was made, and at the end of that in ten minutes. It is
 * over when it is too old or, if this is an attempt, after some of them.
 */
export const postponeJob = (database: Database, job: PreviewJob, isAttempt: boolean): Promise<unknown> =>
  database.run(sql.unsafe`
    UPDATE messaging.link_preview_job SET attempts = attempts - ${isAttempt ? 0 : 1}, taken_until = clock_timestamp()
      + least(greatest(clock_timestamp() - created_at, interval '2 seconds'), interval '10 minutes') * (0.8 + random() * 0.4)
    WHERE ${ofJob(job)}`);

/** Lets another worker begin the job at once. */
export const returnJob = (database: Database, job: PreviewJob): Promise<unknown> =>
  database.run(sql.unsafe`
    UPDATE messaging.link_preview_job SET taken_until = '-infinity', attempts = attempts - 1 WHERE ${ofJob(job)}`);
