import { commonConfig, runService } from '@natter/service-kit';
import { startEventQueue } from './service.ts';

await runService('event-queue', commonConfig, startEventQueue);
