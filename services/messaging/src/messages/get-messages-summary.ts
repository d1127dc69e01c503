import { badRequest, messageReadingOperations } from '@natter/contracts';
import { type Handlers, handle } from '@natter/service-kit';

/** `server_can_summarize_topics` of a register is false. Clients that send the request anyway get the reason. */
export const summaryHandlers = (): Handlers => [
  handle(messageReadingOperations.getMessagesSummary, async () => {
    throw badRequest('AI features are not enabled on this server.');
  }),
];
