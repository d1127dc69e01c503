import { z } from 'zod';
import { operation, servicePrograms } from '../model/operation.ts';

const people_online = z
  .int()
  .nullable()
  .describe(
    'Number of people whose clients reported presence within the last minutes; null if it is unknown, or if the organization hides presence.',
  );

/** An installation serves many organizations: an answer is about the caller's own, or about no organization. */
export const serverStatusOperations = {
  getServerStatus: operation({
    name: 'get-server-status',
    service: 'gateway',
    http: { method: 'GET', path: '/server/status' },
    caller: 'human',
    role: 'administrator',
    summary: 'Whether the services of the server answer, and how much the organization uses them now.',
    weight: 5,
    result: z.object({
      server_version: z.string().describe('The release of the process that answered.'),
      services: z
        .array(
          z.object({
            name: z.enum(servicePrograms).describe('The name of the service.'),
            is_available: z.boolean().describe('Whether a process of the service answered in time.'),
            versions: z
              .array(z.string())
              .describe('The releases of the processes that answered: several during an upgrade.'),
            latency_ms: z
              .number()
              .nullable()
              .describe('Milliseconds until the first process answered; null if none did.'),
          }),
        )
        .describe('All services, whether they answer or not.'),
      people_online,
      event_queues: z.int().nullable().describe('How many event queues the organization has; null if that is unknown.'),
    }),
    deadlineMs: 5_000,
  }),
  countOnline: operation({
    name: 'count-online',
    service: 'presence',
    caller: 'internal',
    callers: ['gateway'],
    summary: 'How many people of the organization are present. Bus only.',
    result: z.object({ people_online }),
    isReadOnly: true,
    deadlineMs: 1_500,
  }),
  countQueues: operation({
    name: 'count-queues',
    service: 'event-queue',
    caller: 'internal',
    callers: ['gateway'],
    summary: 'How many event queues the organization has. Bus only.',
    result: z.object({ event_queues: z.int().describe('How many event queues the organization has.') }),
    isReadOnly: true,
    deadlineMs: 1_500,
  }),
};
