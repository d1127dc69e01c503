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

/** Longer than a worker needs, so another worker takes the job only if the first one has died. */
const leaseSeconds = 30;
/** A job that is due later than this was stored before the clock of the database was set back. */
const longestWait = sql.fragment`interval '15 minutes'`;
const maxAttempts = 3;
/** Older previews are not added: the message has been read. */
const maxAgeMinutes = 60;

/** Whether a worker may take the job `j` now, in the time of the database. */
const isDue = sql.fragment`(j.taken_until <= clock_timestamp() OR j.taken_until > clock_timestamp() + ${longestWait})`;

/**
 * Takes jobs that no other worker has, at most `perRealm` of a realm with those that run: `running` has the realm of each.
 * In a realm, people with due jobs take turns at random, each with one job. Without turns, one person with many slow jobs
 * would delay those of all others. Jobs that were never taken come first, so those that are postponed again and again
 * delay no new ones. People are found by skipping through an index, so many jobs of one person or realm delay no others.
 */
export const takeJobs = (
  database: Database,
  { limit, perRealm, running }: { limit: number; perRealm: number; running: readonly number[] },
): Promise<readonly PreviewJob[]> =>
  database.any(sql.type(jobRow)`
    WITH RECURSIVE person (realm_id, caused_by) AS (
      (SELECT realm_id, caused_by FROM messaging.link_preview_job ORDER BY realm_id, caused_by LIMIT 1)
      UNION ALL
      SELECT n.realm_id, n.caused_by FROM person p CROSS JOIN LATERAL (
        SELECT j.realm_id, j.caused_by FROM messaging.link_preview_job j
        WHERE (j.realm_id, j.caused_by) > (p.realm_id, p.caused_by) ORDER BY j.realm_id, j.caused_by LIMIT 1) n
    ), first AS (
      SELECT f.realm_id, f.message_id,
        row_number() OVER (PARTITION BY f.realm_id ORDER BY f.taken_until > '-infinity', random()) AS turn
      FROM person p CROSS JOIN LATERAL (
        SELECT j.realm_id, j.message_id, j.taken_until FROM messaging.link_preview_job j
        WHERE j.realm_id = p.realm_id AND j.caused_by = p.caused_by AND ${isDue} ORDER BY j.taken_until, j.message_id LIMIT 1) f
    ), due AS (
      SELECT j.realm_id, j.message_id FROM first f
      JOIN messaging.link_preview_job j ON j.realm_id = f.realm_id AND j.message_id = f.message_id
      WHERE f.turn <= ${perRealm}::int - cardinality(array_positions(${sql.array([...running], 'int4')}, f.realm_id)) AND ${isDue}
      ORDER BY random() LIMIT ${limit} FOR UPDATE OF j SKIP LOCKED
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
