import { badRequest, realmOperations } from '@natter/contracts';
import { type Handlers, handle, handleWrite } from '@natter/service-kit';

/** Call providers that would require an account of the server. */
export const callHandlers = (): Handlers => [
  handle(realmOperations.createBigBlueButtonCall, async () => {
    throw badRequest('BigBlueButton is not configured.');
  }),
  handleWrite(realmOperations.createZoomCall, async () => {
    throw badRequest('Zoom credentials have not been configured');
  }),
];
