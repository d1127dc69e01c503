import { runService } from '@natter/service-kit';
import { channelsConfig, startChannels } from './service.ts';

await runService('channels', channelsConfig, startChannels);
