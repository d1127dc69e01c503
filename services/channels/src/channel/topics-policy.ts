import type { UserContext } from '@natter/service-kit';
import type { Service } from '../deciding.ts';

/** Only the empty topic is possible where nothing stands in another one; messaging knows what stands where. */
export async function checkOnlyEmptyTopic(
  _service: Service,
  _context: UserContext,
  _channelId: number,
): Promise<void> {}
