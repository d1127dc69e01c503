import { badRequest, messageReadingOperations } from '@natter/contracts';
import { type Handlers, handle } from '@natter/service-kit';

/** The register says so with `server_can_summarize_topics`; clients that ask nevertheless get the reason. */
export const summaryHandlers = (): Handlers => [
  handle(messageReadingOperations.getMessagesSummary, async () => {
    throw badRequest('AI features are not enabled on this server.');
  }),
];
