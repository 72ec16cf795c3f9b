import { z } from '@hono/zod-openapi';
import { earlierAuditActions } from '../../domain/audit/audit-actions.ts';
import { type AuditEntryRecord, targetKindOf } from '../../domain/audit/audit-entry.ts';
import { listAuditLog } from '../../domain/audit/audit-log.ts';
import type { Context } from '../../domain/context.ts';
import { prefixedId } from '../../domain/ids.ts';
import type { PageLimits } from '../../domain/pages.ts';
import { integerParam, textParam } from './query.ts';
import { invalidRequest } from './refusal.ts';

const entrySchema = z
  .object({
    audit_log_id: z.string().openapi({ description: '`audit_log-` and 32 hex digits.' }),
    created_at: z.int().openapi({ description: 'Unix milliseconds.' }),
    action: z.enum(earlierAuditActions),
    user_id: z.string().optional(),
    service_user_id: z.string().optional(),
    session_id: z.string().optional(),
    target_user_id: z.string().optional(),
    org_id: z.string().optional(),
  })
  .openapi('AuditLogEntry');

/** The audit log in versions 1 and 2: the entries whose action their enumeration has (docs/wire/audit-log.md#actions). */
export const earlierAuditLog = z.object({ audit_logs: z.array(entrySchema) }).openapi('AuditLogResponse');

/** Query parameters of the audit log in versions 1 and 2. */
export function earlierAuditQuery(page: PageLimits) {
  return z.object({
    limit: integerParam('limit', {
      description: 'Entries in this answer.',
      minimum: 1,
      maximum: page.max,
      default: page.default,
    }),
    after: textParam('after', { description: 'Only entries of this time or later, in Unix milliseconds.' }),
    before: textParam('before', { description: 'Only entries before this time, in Unix milliseconds.' }),
  });
}

/** Reads the enterprise's newest entries, without those whose action the earlier enumeration does not have. */
export async function readEarlierAuditLog(
  context: Context,
  query: z.output<ReturnType<typeof earlierAuditQuery>>,
  page: PageLimits,
): Promise<z.input<typeof earlierAuditLog>> {
  const filter = {
    actions: earlierAuditActions,
    createdAfter: parseTime('after', query.after),
    createdBefore: parseTime('before', query.before),
  };
  const { items } = await listAuditLog(context, { filter, first: query.limit }, page);
  return { audit_logs: items.map(presentEntry) };
}

// The end of the year 9999, the latest time that the service accepts.
const maxMs = 253_402_300_799_999;

function parseTime(name: 'after' | 'before', text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (ms <= maxMs) return new Date(ms);
  const msg = `"${name}" must be a time in Unix milliseconds, but was ${JSON.stringify(text.slice(0, 60))}.`;
  throw invalidRequest([{ loc: ['query', name], msg, type: 'value_error' }]);
}

function presentEntry(entry: AuditEntryRecord): z.input<typeof entrySchema> {
  const { userId, serviceUserId, sessionId, targetId, organizationId } = entry;
  const targetUserId = targetKindOf(entry) === 'user' ? targetId : null;
  return {
    audit_log_id: prefixedId('auditEntry', entry.id),
    created_at: entry.createdAt.getTime(),
    // The query asked the domain for these actions only.
    action: entry.action as (typeof earlierAuditActions)[number],
    ...(userId === null ? {} : { user_id: prefixedId('user', userId) }),
    ...(serviceUserId === null ? {} : { service_user_id: prefixedId('serviceUser', serviceUserId) }),
    ...(sessionId === null ? {} : { session_id: prefixedId('session', sessionId) }),
    ...(targetUserId === null ? {} : { target_user_id: prefixedId('user', targetUserId) }),
    ...(organizationId === null ? {} : { org_id: prefixedId('organization', organizationId) }),
  };
}
