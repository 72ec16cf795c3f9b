import { timeAsNumber } from '../../times.ts';
import type { OrganizationRecord } from './use-organization.ts';

/**
 * A value of SQL: an `organization` aliased `o` as one JSON array, with `more` values behind; {@link toOrganization} makes a
 * record of it. A row of one organization costs the client more by its columns, which are told with each, than by its values.
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

/** What {@link organizationAsJson} gave, as a record. */
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
