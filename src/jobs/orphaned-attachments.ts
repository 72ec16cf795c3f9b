import type { Services } from '../domain/context.ts';
import { deleteOrphanedAttachments } from '../domain/sessions/attachments/orphans.ts';
import { hourly, type Scheduled } from './retention.ts';

/**
 * Deletes attachments that nobody can use. Runs in every process that stores files, because a crash leaves them on its
 * disk.
 */
export function createOrphanedAttachments(services: Services): Scheduled {
  return hourly(async (isStopped) => {
    try {
      const count = await deleteOrphanedAttachments(services, isStopped);
      if (count > 0) services.log.info({ count }, 'Deleted unused attachment files.');
    } catch (error) {
      services.log.warn({ err: error }, 'Unused attachments could not be deleted.');
    }
  });
}
