import { runService } from '@natter/service-kit';
import { gatewayConfig } from './config.ts';
import { startGateway } from './service.ts';

await runService('gateway', gatewayConfig, startGateway);
