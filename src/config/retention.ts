import type { z } from 'zod';
import type { RetentionTimes } from '../domain/context.ts';
import { number } from './forms.ts';

const dayMs = 86_400_000;

const days = () => number({ min: 0, max: 36_500, minMeaning: 'never' });

/** Variables for the times after which data is deleted. Those of workspaces and checkpoints are with their own variables. */
export const retentionVariables = {
  /** The time after which a session that has ended is deleted with all it has; 0: never. */
  SESSION_RETENTION_DAYS: days().default(0),
  /** The time after which attachments are deleted, unless their session goes on; 0: never. */
  ATTACHMENT_RETENTION_DAYS: days().default(0),
  /** The time after which entries of the audit log are deleted; 0: never. */
  AUDIT_LOG_RETENTION_DAYS: days().default(0),
  /** The time after which deliveries of webhooks are deleted; 0: never. */
  WEBHOOK_DELIVERY_RETENTION_DAYS: days().default(30),
};

type Variables = z.output<z.ZodObject<typeof retentionVariables>>;

/** The configuration of retention. */
export interface RetentionConfig {
  readonly retention: RetentionTimes;
}

/** Converts {@link retentionVariables} to the service's names and units. */
export function readRetentionConfig(env: Variables): RetentionConfig {
  const msOf = (count: number) => (count === 0 ? null : count * dayMs);
  return {
    retention: {
      sessionMs: msOf(env.SESSION_RETENTION_DAYS),
      attachmentMs: msOf(env.ATTACHMENT_RETENTION_DAYS),
      auditLogMs: msOf(env.AUDIT_LOG_RETENTION_DAYS),
      webhookDeliveryMs: msOf(env.WEBHOOK_DELIVERY_RETENTION_DAYS),
    },
  };
}
