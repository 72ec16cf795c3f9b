import { automationFeed } from '../domain/automations/triggers/follow-events.ts';
import { readSessionEvents } from '../domain/automations/triggers/read-session-events.ts';
import type { Services } from '../domain/context.ts';
import { createFeedReading } from './feed-reading.ts';
import type { Scheduled } from './retention.ts';

/** Starts automations on events in sessions. */
export function createSessionEvents(services: Services): Scheduled {
  return createFeedReading(services, {
    consumer: automationFeed,
    topic: 'automations',
    purpose: 'automations',
    read: (organizationId, from) => readSessionEvents(services, organizationId, from),
  });
}
