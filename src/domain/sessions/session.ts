import type { Owner } from '../../auth/viewer.ts';
import { authorColumns } from '../authors.ts';
import type { Context } from '../context.ts';
import type { SessionEnd, SessionStatus, SessionStatusDetail } from './status.ts';

/** The sources from which a session can be started, as far as Switchyard has them. */
export const sessionOrigins = ['api', 'webapp', 'automation', 'cli', 'other'] as const;
/** See {@link sessionOrigins}. */
export type SessionOrigin = (typeof sessionOrigins)[number];

/** A pull request that the session made. */
export interface PullRequest {
  readonly url: string;
  readonly state: 'open' | 'closed' | 'merged';
}

/** A session as the APIs read it: the projection of its log, without its prompt and its secrets. */
export interface SessionRecord extends Owner {
  readonly id: string;
  readonly organizationId: string;
  readonly title: string;
  readonly status: SessionStatus;
  readonly statusDetail: SessionStatusDetail | null;
  /** A requested and unfinished suspension or resumption, and where the request came from. */
  readonly request: 'suspend' | 'resume' | null;
  readonly requestFrom: 'api' | 'console' | null;
  readonly endedBy: SessionEnd | null;
  /** The id of the log entry of the pending question; null: none. */
  readonly pendingQuestionId: string | null;
  /** True if the session has been resumed, and nothing has been streamed since. */
  readonly isFresh: boolean;
  readonly isArchived: boolean;
  readonly isUnlisted: boolean;
  readonly origin: SessionOrigin;
  readonly tags: readonly string[];
  readonly snapshotId: string | null;
  readonly playbookId: string | null;
  readonly automationId: string | null;
  readonly parentId: string | null;
  readonly agent: string | null;
  readonly maxAcuLimit: number | null;
  readonly acusConsumed: number;
  readonly structuredOutputSchema: unknown;
  readonly structuredOutput: unknown;
  readonly pullRequests: readonly PullRequest[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The columns of a {@link SessionRecord}, named as its fields, of a `session` aliased `s`. */
export const sessionColumns = `
  s.id, s.organization_id as "organizationId", s.title, s.status, s.status_detail as "statusDetail", s.request,
  s.request_from as "requestFrom", s.ended_by as "endedBy", s.is_fresh as "isFresh", s.is_archived as "isArchived",
  s.is_unlisted as "isUnlisted", s.origin, s.tags, s.snapshot_id as "snapshotId", s.playbook_id as "playbookId",
  s.automation_id as "automationId", s.parent_id as "parentId", s.agent, s.max_acu_limit as "maxAcuLimit",
  s.acus_consumed as "acusConsumed", s.structured_output_schema as "structuredOutputSchema",
  s.structured_output as "structuredOutput", s.pull_requests as "pullRequests", ${authorColumns('s')},
  s.created_at as "createdAt", s.updated_at as "updatedAt", s.pending_question_id as "pendingQuestionId"`;

/** The page of a session in the console. */
export function sessionUrl(context: Pick<Context, 'baseUrl'>, id: string): string {
  return `${context.baseUrl}/sessions/${id}`;
}
