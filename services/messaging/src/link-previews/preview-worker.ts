import { isOutage, type RequestMeta } from '@natter/contracts';
import { VersionsChanged } from '@natter/database';
import { type Process, repeat, watchProcess } from '@natter/service-kit';
import type { MessagingConfig } from '../model/config.ts';
import { externalContentKey } from '../model/external-content-key.ts';
import { reachable } from '../model/outgoing/public-address.ts';
import { createTurns } from '../model/outgoing/turns.ts';
import { addPreviews, placeOf, type Sources } from './add-previews.ts';
import { endJob, type PreviewJob, postponeJob, returnJob, takeJobs } from './jobs.ts';
import { forgetPages } from './page-cache.ts';
import { type Previews, previewsOf } from './previews-of.ts';

const jobsAtOnce = 8;
const jobsPerRealm = 2;
const nothing: Previews = { html: '', isUnrequested: false, isAttempt: false };
/** Pause after a round without jobs. */
const idleMs = 1_000;
const hourMs = 3_600_000;

export interface PreviewWorker {
  stop: () => Promise<void>;
}

/**
 * Adds previews of linked web pages to messages, in every process of messaging. A job is a row. The transaction that adds
 * the previews deletes the row, so each job is done once. If a process dies, another process takes its job. A job is given
 * up after a few failed attempts. If no name server answers, so that no page can be requested, or if a projection is
 * outdated for long, the job is postponed instead. Jobs of a realm wait for each other, not for jobs of other realms.
 */
export function startPreviewWorker(
  sources: Sources,
  { config, log }: Pick<Process<MessagingConfig>, 'config' | 'log'>,
): PreviewWorker {
  const { database } = sources;
  const onError = (error: unknown, context: Record<string, unknown> = {}): void =>
    log.warn({ err: error, ...context }, 'adding link previews failed');
  const stopping = new AbortController();
  const { signal } = stopping;
  const fetching = {
    database,
    inTurn: createTurns(),
    rules: reachable(config.NATTER_EXTERNAL_CONTENT_NETWORKS),
    process: watchProcess(),
    names: { answeredAt: Number.NEGATIVE_INFINITY },
    signal,
  };
  /** Running jobs, with their realms. */
  const running = new Map<Promise<void>, number>();
  let wake: () => void = () => undefined;

  const loop = (async () => {
    while (!signal.aborted) {
      // Armed before the jobs are read, so that no end of a job is missed.
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      let timer: NodeJS.Timeout | undefined;
      const hasBegun = await beginJobs().catch((error: unknown) => {
        onError(error);
        return false;
      });
      if (hasBegun && running.size < jobsAtOnce) continue;
      const idle = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, idleMs * (0.9 + Math.random() * 0.2));
      });
      await Promise.race([changed, idle]);
      clearTimeout(timer);
    }
  })();
  const stopForgetting = repeat({ everyMs: hourMs, onError }, (isStopped) => forgetPages(database, isStopped));

  return {
    stop: async () => {
      stopping.abort();
      wake();
      await Promise.all([loop, stopForgetting()]);
      await Promise.all(running.keys());
    },
  };

  async function beginJobs(): Promise<boolean> {
    const limit = jobsAtOnce - running.size;
    if (limit === 0) return false;
    const jobs = await takeJobs(database, { limit, perRealm: jobsPerRealm, running: [...running.values()] });
    for (const job of jobs) {
      const done = runJob(job)
        .catch(async (error: unknown) => {
          onError(error, { realmId: job.realm_id, messageId: job.message_id });
          // An outage or an outdated projection is no attempt, but one that this process does not survive is.
          if (isOutage(error) || error instanceof VersionsChanged)
            await postponeJob(database, job, false).catch(onError);
        })
        .finally(() => {
          running.delete(done);
          wake();
        });
      running.set(done, job.realm_id);
    }
    return jobs.length > 0;
  }

  async function runJob(job: PreviewJob): Promise<void> {
    const meta: RequestMeta = { requestId: `preview-${job.message_id}`, realmId: job.realm_id, client: 'Internal' };
    const isWanted =
      !job.is_over &&
      (await placeOf(database, job)) !== undefined &&
      (await sources.policies.get(meta, true)).settings.inline_url_embed_preview;
    const previews = isWanted ? await previewsFor(job) : nothing;
    if (previews === undefined) return;
    const { html, isUnrequested, isAttempt } = previews;
    if (html !== '') await addPreviews(sources, job, html);
    else if (isUnrequested) await postponeJob(database, job, isAttempt);
    else await endJob(database, job);
  }

  /** `undefined`: this process stops, and another one does the job. */
  async function previewsFor(job: PreviewJob): Promise<Previews | undefined> {
    const key = await externalContentKey(database, job.realm_id);
    try {
      return await previewsOf(fetching, job, key);
    } catch (error) {
      if (!signal.aborted) throw error;
      await returnJob(database, job);
      return undefined;
    }
  }
}
