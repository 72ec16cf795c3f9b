import { type CheckpointTimes, sweepCheckpoints } from '../domain/checkpoints/sweep-checkpoints.ts';
import type { Services } from '../domain/context.ts';
import { hourly, type Scheduled } from './retention.ts';

/** Deletes checkpoints and segments that nobody needs. Several processes may do it at once. */
export function createCheckpointSweep(services: Services, times: CheckpointTimes): Scheduled {
  return hourly(async (isStopped) => {
    try {
      const count = await sweepCheckpoints(services, times, isStopped);
      if (count > 0) services.log.info({ count }, 'Deleted unused checkpoint segments.');
    } catch (error) {
      services.log.warn({ err: error }, 'Old checkpoints could not be deleted. The next sweep tries again.');
    }
  });
}
