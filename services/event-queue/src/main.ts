import { runService } from '@natter/service-kit';
import { eventQueueConfig, startEventQueue } from './service.ts';

await runService('event-queue', eventQueueConfig, startEventQueue);
