import { addressProblem, badRequest } from '@natter/contracts';

/** The address of an outgoing webhook bot. Refuses one that is never called. */
export function checkedWebhookAddress(param: 'payload_url' | 'service_payload_url', address: string): string {
  const problem = addressProblem(address);
  if (problem === 'not a web address' || !/^https?:\/\/[^\s/]+/.test(address))
    throw badRequest(`${param} is not a URL`);
  if (problem !== undefined) throw badRequest(`${param} cannot be called: ${problem}`);
  return address;
}
