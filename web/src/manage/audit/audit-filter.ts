import type { AuditAction } from '../../__generated__/auditPageQuery.graphql.ts';
import { auditActions } from './audit-actions.ts';

/** The query parameters that filter the log. `scope`: `organization`, or empty for the whole enterprise. */
export const filterNames = ['scope', 'by', 'action', 'from', 'to'] as const;

/** Their values; days are in UTC and inclusive. */
export type AuditFilter = Readonly<Record<(typeof filterNames)[number], string>>;

const dayMs = 24 * 60 * 60 * 1_000;
// An invalid day in the URL is ignored.
const startOf = (day: string) => {
  const at = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(at) ? null : at;
};

/** The filter as the service takes it. */
export function filterOf({ by, action, from, to }: Omit<AuditFilter, 'scope'>) {
  const [first, last] = [startOf(from), startOf(to)];
  return {
    actions: (auditActions as readonly string[]).includes(action) ? [action as AuditAction] : null,
    actorId: by || null,
    createdAfter: first === null ? null : new Date(first).toISOString(),
    createdBefore: last === null ? null : new Date(last + dayMs).toISOString(),
  };
}
