/**
 * Rendering with limits. Light content is rendered at once within a limit of steps; all other content in worker
 * threads, where a job gets 100 ms of CPU, bounded memory and bounded output, and where each user and each realm has a
 * budget of CPU time. Guarantees: no content blocks the main thread, delays other users' rendering by more than a job
 * per realm, or makes rendering fail. Content that exceeds a limit is shown as typed. The caller passes a context with
 * what the author may see.
 */

import type { Tenant } from '@natter/database';
import type { Linkifier, RenderContext, TopicLink } from '@natter/markdown';
import { emptyContext, renderPlain, topicLinks } from '@natter/markdown/render';
import { RenderBudget } from './budget.ts';
import { checkSimplePattern, type RenderedMessage, renderLight } from './jobs.ts';
import { createWorkerPool, type Limits, type RenderLimit, type WorkerPool } from './worker-pool.ts';

export { emptyContext } from '@natter/markdown/render';
export type { RenderedMessage } from './jobs.ts';
export type { RenderLimit } from './worker-pool.ts';

/** The user whose allowance pays for rendering. For a bot it is the owner, because one user may own many bots. */
export interface Author extends Tenant {
  botOwnerId?: number | undefined;
}

const payerOf = ({ realmId, userId, botOwnerId = userId }: Author): Tenant => ({ realmId, userId: botOwnerId });

export interface Renderer {
  render(author: Author, content: string, context: RenderContext, topic?: string): Promise<RenderedMessage>;
  /** Links of each topic; if a limit is exceeded, those of linkifiers are missing. */
  topicLinks(author: Author, topics: readonly string[], linkifiers: readonly Linkifier[]): Promise<TopicLink[][]>;
  /** HTML of texts without references and previews, by text. */
  renderTexts(author: Author, texts: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * Whether linkifiers can use the pattern: it is in RE2 syntax and compiles within the limits. Undefined if no thread
   * answered in time.
   */
  isLinkifierPattern(author: Author, pattern: string): Promise<boolean | undefined>;
  /** Starts the threads before they are first needed. */
  start(): void;
  close(): Promise<void>;
}

/** Descriptions and profiles show no images of what they link. */
const plainContext = { ...emptyContext, previewMedia: false };
const topicsPerJob = 50;
const usual: Limits = {
  threads: 2,
  perRealm: 1,
  cpuMs: 100,
  endAfterCpuMs: 400,
  wallMs: 6_000,
  waitMs: 4_000,
  startMs: 11_000,
  maxWaiting: 5_000,
};

/** `onLimit` is called for each exceeded limit. */
export function createRenderer(
  onLimit: (limit: RenderLimit, author: Author) => void = () => undefined,
  limits: Partial<Limits> = {},
): Renderer {
  const budget = new RenderBudget();
  let started: WorkerPool | undefined;
  // Started on first use: many processes never need it.
  const pool = (): WorkerPool => {
    started ??= createWorkerPool(budget, { ...usual, ...limits });
    return started;
  };

  const renderer: Renderer = {
    render: async (author, content, context, topic = '') => {
      const input = { content, context, topic };
      const atOnce = context.linkifiers.length === 0 ? renderLight(input) : undefined;
      if (atOnce) return atOnce;
      const outcome = await pool().run(payerOf(author), { name: 'render', input });
      if ('result' in outcome) return outcome.result;
      onLimit(outcome.unfinished, author);
      const withoutLinkifiers = context.linkifiers.length > 0 ? renderLight(input) : undefined;
      return withoutLinkifiers ?? { ...renderPlain(content), topicLinks: topic === '' ? [] : topicLinks(topic, []) };
    },

    topicLinks: async (author, topics, linkifiers) => {
      if (linkifiers.length === 0) return topics.map((topic) => topicLinks(topic, []));
      const distinct = [...new Set(topics)];
      const linksOf = async (chunk: readonly string[]): Promise<[string, TopicLink[]][]> => {
        const outcome = await pool().run(payerOf(author), { name: 'topicLinks', input: { topics: chunk, linkifiers } });
        if ('unfinished' in outcome) onLimit(outcome.unfinished, author);
        return chunk.map((topic, i) => [topic, ('result' in outcome && outcome.result[i]) || topicLinks(topic, [])]);
      };
      const chunks = Array.from({ length: Math.ceil(distinct.length / topicsPerJob) }, (_, i) =>
        distinct.slice(i * topicsPerJob, (i + 1) * topicsPerJob),
      );
      const links = new Map((await Promise.all(chunks.map(linksOf))).flat());
      return topics.map((topic) => links.get(topic) ?? []);
    },

    renderTexts: async (author, texts) => {
      const rendered = await Promise.all(texts.map((text) => renderer.render(author, text, plainContext)));
      return new Map(texts.map((text, i) => [text, rendered[i]?.html ?? '']));
    },

    isLinkifierPattern: async (author, pattern) => {
      const atOnce = checkSimplePattern(pattern);
      if (atOnce !== undefined) return atOnce;
      const outcome = await pool().run(payerOf(author), { name: 'checkPattern', input: { pattern } });
      if ('result' in outcome) return outcome.result;
      onLimit(outcome.unfinished, author);
      return outcome.unfinished === 'budget' || outcome.unfinished === 'queue' || outcome.unfinished === 'wait'
        ? undefined
        : false;
    },

    start: () => void pool(),

    close: async () => started?.close(),
  };
  return renderer;
}
