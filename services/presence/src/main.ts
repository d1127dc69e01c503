import { runService } from '@natter/service-kit';
import { presenceConfig, startPresence } from './service.ts';

await runService('presence', presenceConfig, startPresence);
