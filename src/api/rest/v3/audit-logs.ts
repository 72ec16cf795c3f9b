import { z } from '@hono/zod-openapi';
import { type AuditEntryRecord, targetKindOf } from '../../../domain/audit/audit-entry.ts';
import { type AuditLogRequest, listAuditLog } from '../../../domain/audit/audit-log.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { integerParam, listParam, textParam } from '../query.ts';
import { invalidRequest, type WireIssue } from '../refusal.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage, time, timeSchema } from './dialect.ts';

/** The end of the year 9999 in Unix seconds, the latest time that the service accepts. */
export const lastSecond = 253_402_300_799;

const listQuery = z.object({
  ...pageQuery,
  order: textParam('order', { description: '`desc`, newest first, or `asc`. Default `desc`.' }),
  time_after: integerParam('time_after', { description: 'Only entries of this time or later, in Unix seconds.' }),
  time_before: integerParam('time_before', {
    description: 'Only entries before this time, in Unix seconds. With or without `time_after`.',
  }),
  action: listParam('action', { description: 'Entries of any of these actions.' }),
});

const entryResponse = z
  .object({
    audit_log_id: z.string(),
    action: z.string(),
    created_at: timeSchema,
    data: z.record(z.string(), z.unknown()).openapi({
      description: 'What is known beside the rest: always `target_id`, `session_id`, `api_key_id` and `ip_address`.',
    }),
    org_id: z.string().nullable(),
    user_id: z.string().nullable(),
    user_email: z.string().nullable(),
    service_user_id: z.string().nullable(),
    service_user_name: z.string().nullable(),
  })
  .openapi('AuditLogResponse');

const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

// This version writes session ids without a prefix, and all other ids with theirs.
function presentTarget(entry: AuditEntryRecord): string | null {
  const kind = targetKindOf(entry);
  return kind === null || kind === 'session' || entry.targetId === null
    ? entry.targetId
    : prefixedId(kind, entry.targetId);
}

/** Presents an entry as in lists. */
export function presentEntry(entry: AuditEntryRecord): z.input<typeof entryResponse> {
  const { organizationId, userId, serviceUserId, apiKeyId } = entry;
  return {
    audit_log_id: prefixedId('auditEntry', entry.id),
    action: entry.action,
    created_at: time(entry.createdAt),
    data: {
      ...Object.fromEntries(Object.entries(entry.data).map(([name, value]) => [snakeCase(name), value])),
      target_id: presentTarget(entry),
      session_id: entry.sessionId,
      api_key_id: apiKeyId && prefixedId('apiKey', apiKeyId),
      ip_address: entry.address,
    },
    org_id: organizationId && prefixedId('organization', organizationId),
    user_id: userId && prefixedId('user', userId),
    user_email: entry.userEmail,
    service_user_id: serviceUserId && prefixedId('serviceUser', serviceUserId),
    service_user_name: entry.serviceUserName,
  };
}

function parseQuery(query: z.output<typeof listQuery>): AuditLogRequest {
  const { first, after, order = 'desc', time_after, time_before } = query;
  const issues: WireIssue[] = [];
  const refuse = (name: string, msg: string) => issues.push({ loc: ['query', name], msg, type: 'value_error' });
  if (order !== 'asc' && order !== 'desc') {
    refuse('order', `"order" must be "asc" or "desc", but was ${JSON.stringify(order.slice(0, 60))}.`);
  }
  for (const name of ['time_after', 'time_before'] as const) {
    const seconds = query[name];
    if (seconds !== undefined && !(seconds >= 0 && seconds <= lastSecond)) {
      refuse(name, `"${name}" must be a time in Unix seconds, but was ${seconds}.`);
    }
  }
  if (issues.length > 0) throw invalidRequest(issues);
  const at = (seconds: number | undefined) => (seconds === undefined ? undefined : new Date(seconds * 1_000));
  // Lists keep each value complete as well as split at its commas. No action contains a comma.
  const actionNames = query.action?.filter((name) => !name.includes(',')) ?? [];
  const filter = {
    actions: actionNames.length > 0 ? actionNames : undefined,
    createdAfter: at(time_after),
    createdBefore: at(time_before),
  };
  return { first, after, order: order === 'asc' ? 'asc' : 'desc', filter };
}

/** `/v3/enterprise/audit-logs`, and the same for one organization. */
export function serveAuditLogs(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: ['/v3/enterprise/audit-logs'],
      name: 'listAuditLogs',
      summary: 'Read the audit log of the enterprise',
      query: listQuery,
      answer: pageOf(entryResponse),
      refusals: [403, 422],
    },
    async ({ context, query }) => presentPage(await listAuditLog(context, parseQuery(query), page), presentEntry),
  );

  api.serve(
    {
      method: 'get',
      paths: ['/v3/enterprise/organizations/{org_id}/audit-logs'],
      name: 'listOrganizationAuditLogs',
      summary: 'Read the audit log of an organization',
      query: listQuery,
      answer: pageOf(entryResponse),
      refusals: [403, 404, 422],
    },
    async ({ context, query, param }) =>
      presentPage(
        await listAuditLog(context, { ...parseQuery(query), organizationId: param('org_id') }, page),
        presentEntry,
      ),
  );
}
