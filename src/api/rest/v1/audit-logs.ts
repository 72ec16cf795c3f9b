import { earlierAuditLog, earlierAuditQuery, readEarlierAuditLog } from '../earlier-audit-log.ts';
import type { VersionApi } from '../version-api.ts';
import { page } from './dialect.ts';

/** `/v1/audit-logs`, and `/v1/enterprise/audit-logs`, which some clients call (docs/wire/audit-log.md#reading-it). */
export function serveAuditLogs(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: ['/v1/audit-logs', '/v1/enterprise/audit-logs'],
      name: 'listAuditLogs',
      successor: 'GET /v3/enterprise/audit-logs',
      summary: 'Read the audit log of the enterprise, newest first',
      query: earlierAuditQuery(page),
      answer: earlierAuditLog,
      refusals: [403, 422],
    },
    ({ context, query }) => readEarlierAuditLog(context, query, page),
  );
}
