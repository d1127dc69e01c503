import { runService } from '@natter/service-kit';
import { usersConfig } from './model/config.ts';
import { startUsers } from './service.ts';

await runService('users', usersConfig, startUsers);
