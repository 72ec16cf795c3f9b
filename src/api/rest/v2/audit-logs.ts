import { earlierAuditLog, earlierAuditQuery, readEarlierAuditLog } from '../earlier-audit-log.ts';
import type { VersionApi } from '../version-api.ts';
import { requireAdministratorKey } from './dialect.ts';

/** The same page sizes as version 1. */
const page = { max: 1_000, default: 100 } as const;

/** `/v2/enterprise/audit-logs`. */
export function serveAuditLogs(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: ['/v2/enterprise/audit-logs'],
      name: 'listAuditLogs',
      successor: 'GET /v3/enterprise/audit-logs',
      summary: 'Read the audit log of the enterprise, newest first',
      query: earlierAuditQuery(page),
      answer: earlierAuditLog,
      refusals: [403, 422],
    },
    ({ context, query }) => {
      requireAdministratorKey(context, 'personal');
      return readEarlierAuditLog(context, query, page);
    },
  );
}
