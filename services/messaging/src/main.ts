import { commonConfig, runService } from '@natter/service-kit';
import { startMessaging } from './service.ts';

await runService('messaging', commonConfig, startMessaging);
