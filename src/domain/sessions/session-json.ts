import { timeAsNumber } from '../times.ts';
import type { SessionRecord } from './session.ts';

/**
 * SQL expression for a `session` aliased `s` as one JSON array, followed by the values `more`; {@link toSession} turns
 * it into a record. For a client, rows of so many columns cost several times as much.
 */
export const sessionAsJson = (...more: readonly string[]): string =>
  `json_build_array(${[columns, ...more].join(', ')})`;

const columns = `s.id, s.organization_id, s.title, s.status, s.status_detail, s.request, s.request_from, s.ended_by, s.is_fresh,
  s.is_archived, s.is_unlisted, s.origin, s.tags, s.snapshot_id, s.playbook_id, s.automation_id, s.parent_id, s.agent,
  s.max_acu_limit, s.acus_consumed, s.structured_output_schema, s.structured_output, s.pull_requests, s.user_id,
  s.service_user_id, s.service_key_id, ${timeAsNumber('s.created_at')}, ${timeAsNumber('s.updated_at')},
  s.pending_question_id`;

/** The values of a session, in the order of the columns. */
export type SessionValues<More extends readonly unknown[] = []> = readonly [
  id: string,
  organizationId: string,
  title: string,
  status: SessionRecord['status'],
  statusDetail: SessionRecord['statusDetail'],
  request: SessionRecord['request'],
  requestFrom: SessionRecord['requestFrom'],
  endedBy: SessionRecord['endedBy'],
  isFresh: boolean,
  isArchived: boolean,
  isUnlisted: boolean,
  origin: SessionRecord['origin'],
  tags: readonly string[],
  snapshotId: string | null,
  playbookId: string | null,
  automationId: string | null,
  parentId: string | null,
  agent: string | null,
  maxAcuLimit: number | null,
  acusConsumed: number,
  structuredOutputSchema: unknown,
  structuredOutput: unknown,
  pullRequests: SessionRecord['pullRequests'],
  userId: string | null,
  serviceUserId: string | null,
  serviceKeyId: string | null,
  createdAtMs: number,
  updatedAtMs: number,
  pendingQuestionId: string | null,
  ...more: More,
];

/** Turns the value of {@link sessionAsJson} into a record. */
export function toSession(values: SessionValues<readonly unknown[]>): SessionRecord {
  return {
    id: values[0],
    organizationId: values[1],
    title: values[2],
    status: values[3],
    statusDetail: values[4],
    request: values[5],
    requestFrom: values[6],
    endedBy: values[7],
    isFresh: values[8],
    isArchived: values[9],
    isUnlisted: values[10],
    origin: values[11],
    tags: values[12],
    snapshotId: values[13],
    playbookId: values[14],
    automationId: values[15],
    parentId: values[16],
    agent: values[17],
    maxAcuLimit: values[18],
    acusConsumed: values[19],
    structuredOutputSchema: values[20],
    structuredOutput: values[21],
    pullRequests: values[22],
    userId: values[23],
    serviceUserId: values[24],
    serviceKeyId: values[25],
    createdAt: new Date(values[26]),
    updatedAt: new Date(values[27]),
    pendingQuestionId: values[28],
  };
}
