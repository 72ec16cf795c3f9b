import type { Config } from '../config/config.ts';
import type { Services } from '../domain/context.ts';
import { createCheckpointSweep } from '../jobs/checkpoints.ts';
import { createDeletedOrganizations } from '../jobs/deleted-organizations.ts';
import { createDueAutomations } from '../jobs/due-automations.ts';
import { createEnvironmentBuilds } from '../jobs/environment-builds.ts';
import { createForgeEvents } from '../jobs/forge-events.ts';
import { createIdleSessions } from '../jobs/idle-sessions.ts';
import { createMentions } from '../jobs/mentions.ts';
import { createOrphanedAttachments } from '../jobs/orphaned-attachments.ts';
import { createPullRequests } from '../jobs/pull-requests.ts';
import { createRetention } from '../jobs/retention.ts';
import { createSessionEvents } from '../jobs/session-events.ts';
import { createWebhooks } from '../jobs/webhooks.ts';

/** Background work of a process. */
export interface Job {
  start(): void;
  stop(): Promise<void>;
}

/** Creates the background work that the roles of this process include. */
export function createJobs(config: Config, services: Services): readonly Job[] {
  const scheduled = () => [
    createRetention(services),
    createDeletedOrganizations(services),
    createIdleSessions(services, config),
    createDueAutomations(services),
    createSessionEvents(services),
    createForgeEvents(services),
    createMentions(services),
    createWebhooks(services),
    createPullRequests(services),
    createEnvironmentBuilds(services),
    createCheckpointSweep(services, config),
  ];
  // Users send files to API processes, and agents create files in workers.
  const storesFiles = config.roles.includes('api') || config.roles.includes('worker');
  return [
    ...(config.roles.includes('scheduler') ? scheduled() : []),
    ...(storesFiles ? [createOrphanedAttachments(services)] : []),
  ];
}
