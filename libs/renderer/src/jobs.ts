import type { Linkifier, RenderContext, Rendered, TopicLink } from '@natter/markdown';
import { compileLinkifier, isLight, LIGHT_STEPS, render, StepLimit, topicLinks } from '@natter/markdown/render';

export interface Content {
  content: string;
  context: RenderContext;
  /** The topic whose links are computed in the same job; '' for none. */
  topic: string;
}

export interface RenderedMessage extends Rendered {
  topicLinks: TopicLink[];
}

/** The jobs of worker threads, by name; inputs and results are plain data. */
export interface Jobs {
  render: { input: Content; result: RenderedMessage };
  topicLinks: { input: { topics: readonly string[]; linkifiers: readonly Linkifier[] }; result: TopicLink[][] };
  checkPattern: { input: { pattern: string }; result: boolean };
}

export type Job<N extends keyof Jobs = keyof Jobs> = { [K in N]: { name: K; input: Jobs[K]['input'] } }[N];

/** Maximum characters of HTML. Without formulas, ten thousand characters of source produce at most a tenth of it. */
const MAX_HTML_LENGTH = 256 * 1024;

const renderMessage = ({ content, context, topic }: Content, maxSteps?: number): RenderedMessage => ({
  ...render(content, context, maxSteps),
  topicLinks: topic === '' ? [] : topicLinks(topic, context.linkifiers),
});

/** Renders at once, without linkifiers; undefined if it may take long. */
export function renderLight({ content, context, topic }: Content): RenderedMessage | undefined {
  if (!isLight(content)) return undefined;
  try {
    return renderMessage({ content, context: { ...context, linkifiers: [] }, topic }, LIGHT_STEPS);
  } catch (error) {
    if (error instanceof StepLimit) return undefined;
    throw error;
  }
}

/**
 * Short patterns of ASCII without counted repetition, character properties and flags. Of 60,000 random ones none took
 * more than 16 ms of CPU to compile.
 */
const simplePattern = /^(?!.*(?:\\[pP]|\{|\(\?(?!P?<)))[ -~]{1,200}$/;

/** Whether a linkifier can use the pattern; undefined if compiling may take long. */
export const checkSimplePattern = (pattern: string): boolean | undefined =>
  simplePattern.test(pattern) ? compileLinkifier(pattern) !== undefined : undefined;

/** Undefined if the result exceeds its limit. */
export function perform(job: Job): Jobs[keyof Jobs]['result'] | undefined {
  switch (job.name) {
    case 'render': {
      const rendered = renderMessage(job.input);
      return rendered.html.length > MAX_HTML_LENGTH ? undefined : rendered;
    }
    case 'topicLinks':
      return job.input.topics.map((topic) => topicLinks(topic, job.input.linkifiers));
    case 'checkPattern':
      return compileLinkifier(job.input.pattern) !== undefined;
  }
}
