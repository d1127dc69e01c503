import { commonConfig, runService } from '@natter/service-kit';
import { startChannels } from './service.ts';

await runService('channels', commonConfig, startChannels);
