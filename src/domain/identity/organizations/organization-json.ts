import { timeAsNumber } from '../../times.ts';
import type { OrganizationRecord } from './use-organization.ts';

/**
 * SQL expression for an `organization` aliased `o` as one JSON array, followed by the values `more`; {@link
 * toOrganization} turns it into a record. In a row of one organization the column descriptions cost the client more
 * than the values.
 */
export const organizationAsJson = (...more: readonly string[]): string =>
  `json_build_array(${[columns, ...more].join(', ')})`;

const columns = `o.id, o.enterprise_id, o.name, o.max_cycle_acu_limit, o.max_session_acu_limit, o.max_concurrent_sessions, o.default_agent,
  ${timeAsNumber('o.created_at')}, ${timeAsNumber('o.updated_at')}`;

/** The values of an organization, in the order of the columns. */
export type OrganizationValues<More extends readonly unknown[] = []> = readonly [
  id: string,
  enterpriseId: string,
  name: string,
  maxCycleAcuLimit: number | null,
  maxSessionAcuLimit: number | null,
  maxConcurrentSessions: number | null,
  defaultAgent: string | null,
  createdAtMs: number,
  updatedAtMs: number,
  ...more: More,
];

/** Turns the value of {@link organizationAsJson} into a record. */
export function toOrganization(values: OrganizationValues<readonly unknown[]>): OrganizationRecord {
  return {
    id: values[0],
    enterpriseId: values[1],
    name: values[2],
    maxCycleAcuLimit: values[3],
    maxSessionAcuLimit: values[4],
    maxConcurrentSessions: values[5],
    defaultAgent: values[6],
    createdAt: new Date(values[7]),
    updatedAt: new Date(values[8]),
  };
}
