import { commonConfig, runService } from '@natter/service-kit';
import { startPresence } from './service.ts';

await runService('presence', commonConfig, startPresence);
