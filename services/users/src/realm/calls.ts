import { badRequest, realmOperations } from '@natter/contracts';
import { type Handlers, handle } from '@natter/service-kit';

/** Providers of calls that would need an account of the server with them. */
export const callHandlers = (): Handlers => [
  handle(realmOperations.createBigBlueButtonCall, async () => {
    throw badRequest('BigBlueButton is not configured.');
  }),
  handle(realmOperations.createZoomCall, async () => {
    throw badRequest('Zoom credentials have not been configured');
  }),
];
