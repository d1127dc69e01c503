import { runService } from '@natter/service-kit';
import { schedulerConfig, startScheduler } from './scheduler-service.ts';

await runService('scheduler', schedulerConfig, startScheduler);
