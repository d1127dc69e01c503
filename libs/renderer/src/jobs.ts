import type { Linkifier, RenderContext, Rendered, TopicLink } from '@natter/markdown';
import { compileLinkifier, isLight, LIGHT_STEPS, render, StepLimit, topicLinks } from '@natter/markdown/render';

export interface Content {
  content: string;
  context: RenderContext;
  /** Its links are found in the same step; '' for none. */
  topic: string;
}

export interface RenderedMessage extends Rendered {
  topicLinks: TopicLink[];
}

/** What is done in a worker thread, by name; inputs and results are plain data. */
export interface Jobs {
  render: { input: Content; result: RenderedMessage };
  topicLinks: { input: { topics: readonly string[]; linkifiers: readonly Linkifier[] }; result: TopicLink[][] };
  checkPattern: { input: { pattern: string }; result: boolean };
}

export type Job<N extends keyof Jobs = keyof Jobs> = { [K in N]: { name: K; input: Jobs[K]['input'] } }[N];

/** Characters of HTML; ten thousand of source make at most a tenth of it, but for formulas. */
const MAX_HTML_LENGTH = 256 * 1024;

const renderMessage = ({ content, context, topic }: Content, maxSteps?: number): RenderedMessage => ({
  ...render(content, context, maxSteps),
  topicLinks: topic === '' ? [] : topicLinks(topic, context.linkifiers),
});

/** At once, without linkifiers; undefined where that may take long. */
export function renderLight({ content, context, topic }: Content): RenderedMessage | undefined {
  if (!isLight(content)) return undefined;
  try {
    return renderMessage({ content, context: { ...context, linkifiers: [] }, topic }, LIGHT_STEPS);
  } catch (error) {
    if (error instanceof StepLimit) return undefined;
    throw error;
  }
}

/** Undefined when the result exceeds its limit. */
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
