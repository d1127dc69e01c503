import { runService } from '@natter/service-kit';
import { messagingConfig } from './model/config.ts';
import { startMessaging } from './service.ts';

await runService('messaging', messagingConfig, startMessaging);
