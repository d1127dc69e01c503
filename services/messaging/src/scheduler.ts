import { commonConfig, runService } from '@natter/service-kit';
import { startScheduler } from './scheduler-service.ts';

await runService('scheduler', commonConfig, startScheduler);
