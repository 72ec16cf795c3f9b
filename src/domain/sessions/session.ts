import { fieldsOf, type Narrowed, selectFields } from '../../store/tables.ts';
import type { Context } from '../context.ts';
import type { SessionEnd, SessionStatus, SessionStatusDetail } from './status.ts';

/** The sources from which a session can be started, as far as Switchyard has them. */
export const sessionOrigins = ['api', 'webapp', 'automation', 'cli', 'other'] as const;
/** See {@link sessionOrigins}. */
export type SessionOrigin = (typeof sessionOrigins)[number];

/** The states of a session's pull request. A draft is open. */
export const pullRequestStates = ['open', 'closed', 'merged'] as const;

/** A pull request that the session made. */
export interface PullRequest {
  readonly url: string;
  readonly state: (typeof pullRequestStates)[number];
}

/** The fields of a session that the APIs read. */
export const sessionFields = fieldsOf('Session', [
  'isTitleDerived',
  'prompt',
  'secretIds',
  'knowledgeIds',
  'agentOptions',
]);

/** The values of the fields whose columns have a wider type. */
interface SessionValues {
  readonly status: SessionStatus;
  readonly statusDetail: SessionStatusDetail | null;
  readonly request: 'suspend' | 'resume' | null;
  readonly requestFrom: 'api' | 'console' | null;
  readonly endedBy: SessionEnd | null;
  readonly origin: SessionOrigin;
  readonly pullRequests: readonly PullRequest[];
}

/** A session as the APIs read it: the projection of its log, without its prompt and its secrets. */
export type SessionRecord = Narrowed<'Session', (typeof sessionFields)[number], SessionValues>;

/** The columns of a {@link SessionRecord}, named as its fields, of a `session` aliased `s`. */
export const sessionColumns = selectFields('Session', 's', sessionFields);

/** The page of a session in the console. */
export function sessionUrl(context: Pick<Context, 'baseUrl'>, id: string): string {
  return `${context.baseUrl}/sessions/${id}`;
}
