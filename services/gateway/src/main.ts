import { runService } from '@natter/service-kit';
import { gatewayConfig, startGateway } from './service.ts';

await runService('gateway', gatewayConfig, startGateway);
