import {
  type Actor,
  badRequest,
  capabilityNames,
  type eventQueueOperations,
  isGuest,
  type ParamsOf,
  perRequest,
} from '@natter/contracts';

type Params = ParamsOf<typeof eventQueueOperations.register>;

const narrowOperators = new Set(['channel', 'stream', 'topic', 'sender', 'from', 'is']);
const isOperands = new Set(['dm', 'private', 'starred', 'unread', 'mentioned', 'alerted', 'resolved']);

/** Refuses invalid capabilities and narrows, and parameters that are not available to spectators or guests. */
export function checkRegister(actor: Actor | undefined, params: Params): void {
  if (!actor && params.client_gravatar === true)
    throw badRequest('Invalid `client_gravatar` parameter for unauthenticated request');
  if (!actor && params.include_subscribers !== 'false')
    throw badRequest('Invalid `include_subscribers` parameter for unauthenticated request');
  if (actor && isGuest(actor) && params.all_public_streams) throw badRequest('User not authorized for this query');
  for (const [name, value] of Object.entries(params.client_capabilities ?? {}))
    if (capabilityNames.some((known) => known === name) && typeof value !== 'boolean')
      throw badRequest(`client_capabilities["${name}"] is not a boolean`);
  if (unitsOf(params.event_types ?? []) > perRequest.queueTypesLength)
    throw badRequest(`event_types is too long (limit: ${perRequest.queueTypesLength} characters in all)`);
  if (unitsOf((params.narrow ?? []).map(({ operand }) => operand)) > perRequest.queueNarrowLength)
    throw badRequest(`narrow is too long (limit: ${perRequest.queueNarrowLength} characters in all)`);
  for (const { operator, operand } of params.narrow ?? []) {
    if (!narrowOperators.has(operator)) throw badRequest(`Operator ${operator} not supported.`);
    if (operator === 'is' && !isOperands.has(operand)) throw badRequest(`Operator is:${operand} not supported.`);
  }
}

const unitsOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);
