import { badRequest, ChatError } from '@natter/contracts';

/** Error texts that several operations share. Invisible objects are refused like those that do not exist. */
export const invalidChannelId = (): ChatError => badRequest('Invalid channel ID');
export const mustBeAdministrator = (): ChatError => badRequest('Must be an organization administrator');
export const mustBeOwner = (): ChatError => badRequest('Must be an organization owner');
export const unknownChannelName = (name: string): ChatError =>
  new ChatError('STREAM_DOES_NOT_EXIST', `Channel '${name}' does not exist`, { stream: name });
export const cannotAdminister = (): ChatError => badRequest('You do not have permission to administer this channel.');
export const unableToAccess = (names: readonly string[]): ChatError =>
  badRequest(`Unable to access channel (${names.join(', ')}).`);
