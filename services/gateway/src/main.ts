import { runService } from '@natter/service-kit';
import { gatewayConfig } from './http/config.ts';
import { startGateway } from './service.ts';

await runService('gateway', gatewayConfig, startGateway);
