import { commonConfig, runService } from '@natter/service-kit';
import { startUsers } from './service.ts';

await runService('users', commonConfig, startUsers);
