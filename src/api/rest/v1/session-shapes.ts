import { z } from '@hono/zod-openapi';
import type { Context } from '../../../domain/context.ts';
import { prefixedId } from '../../../domain/ids.ts';
import type { CreateSessionInput } from '../../../domain/sessions/create-session.ts';
import type { SessionWithEmail } from '../../../domain/sessions/list-sessions-by-offset.ts';
import type { LogEntry, MessageType } from '../../../domain/sessions/log.ts';
import { type SessionRecord, sessionUrl } from '../../../domain/sessions/session.ts';
import { time } from './dialect.ts';
import { statusEnum, v1Statuses } from './status-enum.ts';

/** Body of `POST /v1/sessions`. The domain checks the limits, which are here for the OpenAPI document only. */
export const createSessionRequest = z
  .object({
    prompt: z.string().openapi({ description: 'What to do.' }),
    snapshot_id: z.string().nullish(),
    playbook_id: z.string().nullish(),
    unlisted: z.boolean().nullish().openapi({ description: 'In no list, but readable by id.', default: false }),
    idempotent: z
      .boolean()
      .nullish()
      .openapi({ description: 'The same request gives the same session.', default: false }),
    max_acu_limit: z
      .number()
      .nullish()
      .openapi({ type: ['integer', 'null'], minimum: 1 }),
    secret_ids: z.array(z.string()).nullish().openapi({ description: 'null: all secrets; empty: none.' }),
    knowledge_ids: z.array(z.string()).nullish().openapi({ description: 'null: all knowledge; empty: none.' }),
    session_secrets: z
      .array(z.object({ key: z.string(), value: z.string(), sensitive: z.boolean().optional() }))
      .nullish()
      .openapi({ description: 'Secrets of this session only.' }),
    repos: z.array(z.string()).nullish().openapi({
      description:
        'Repositories to work on: `owner/repo`, `host/owner/repo` or URLs. Ignored until the enterprise has had a git connection.',
      maxItems: 20,
    }),
    structured_output_schema: z
      .record(z.string(), z.unknown())
      .nullish()
      .openapi({ description: 'JSON Schema (Draft 7), at most 64 KB, self-contained.' }),
    tags: z.array(z.string()).nullish().openapi({ maxItems: 50 }),
    title: z.string().nullish(),
  })
  .openapi('CreateSessionRequest');

/** The response to POST /v1/sessions. */
export const createSessionResponse = z
  .object({
    session_id: z.string(),
    url: z.string(),
    is_new_session: z.boolean().optional().openapi({ description: 'Present only when `idempotent` is true.' }),
  })
  .openapi('CreateSessionResponse');

/** POST …/message. */
export const sendMessageRequest = z.object({ message: z.string() }).openapi('SendMessageRequest');

/** PUT …/tags. */
export const editTagsRequest = z
  .object({ tags: z.array(z.string()).openapi({ maxItems: 50 }) })
  .openapi('EditSessionTagsRequest');

/** `null`, or the reason why the session takes no message. */
export const sendMessageResponse = z.object({ detail: z.string() }).nullable().openapi('SendMessageResponse');

/** The response to a termination and to an edit of tags. */
export const detailResponse = z.object({ detail: z.string() }).openapi('DetailResponse');

const shared = {
  session_id: z.string(),
  status: z.string().openapi({ description: 'The word of version 3.' }),
  title: z.string().nullable(),
  created_at: z.string().openapi({ format: 'date-time' }),
  updated_at: z.string().openapi({ format: 'date-time' }),
  snapshot_id: z.string().nullable(),
  playbook_id: z.string().nullable(),
  tags: z.array(z.string()),
  pull_request: z.object({ url: z.string() }).nullable(),
  status_enum: z.enum(v1Statuses).nullable(),
};

const sessionListItem = z
  .object({
    ...shared,
    structured_output: z.string().nullable().openapi({ description: 'JSON text; an object in the details.' }),
    requesting_user_email: z.string().nullable(),
  })
  .openapi('SessionListItem');

/** GET /v1/sessions. */
export const sessionListResponse = z.object({ sessions: z.array(sessionListItem) }).openapi('ListSessionsResponse');

const wireMessageTypes = {
  initial_user_message: 'initial_user_message',
  user_message: 'user_message',
  agent_message: 'devin_message',
} as const satisfies Record<MessageType, string>;

const message = z
  .object({
    type: z.enum(['initial_user_message', 'user_message', 'devin_message']),
    event_id: z.string(),
    message: z.string(),
    timestamp: z.string().openapi({ format: 'date-time' }),
    username: z.string().nullable(),
    origin: z.string().nullable(),
    user_id: z.string().nullable(),
  })
  .openapi('Message');

const sessionHead = z.object({ ...shared, url: z.string(), structured_output: z.unknown() });

/** GET /v1/sessions/{session_id}. */
export const sessionDetails = sessionHead.extend({ messages: z.array(message) }).openapi('GetSessionResponse');

type Names = ReadonlyMap<string, { name: string; email: string | null }>;

/** Converts a request to the domain's input. null equals a missing value, also when idempotency compares inputs. */
export function parseCreateSession(body: z.output<typeof createSessionRequest>): CreateSessionInput {
  return {
    prompt: body.prompt,
    title: body.title ?? undefined,
    tags: body.tags ?? undefined,
    maxAcuLimit: body.max_acu_limit ?? undefined,
    sessionSecrets: body.session_secrets?.map(({ key, value, sensitive = true }) => ({ key, value, sensitive })),
    structuredOutputSchema: body.structured_output_schema ?? undefined,
    repos: body.repos ?? undefined,
    snapshotId: body.snapshot_id ?? undefined,
    playbookId: body.playbook_id ?? undefined,
    secretIds: body.secret_ids ?? undefined,
    knowledgeIds: body.knowledge_ids ?? undefined,
    isUnlisted: body.unlisted ?? undefined,
  };
}

function presentShared(session: SessionRecord): Omit<z.input<typeof sessionHead>, 'structured_output' | 'url'> {
  const pullRequest = session.pullRequests.at(-1);
  return {
    session_id: prefixedId('session', session.id),
    status: session.status,
    title: session.title,
    created_at: time(session.createdAt),
    updated_at: time(session.updatedAt),
    snapshot_id: session.snapshotId,
    playbook_id: session.playbookId === null ? null : prefixedId('playbook', session.playbookId),
    tags: [...session.tags],
    pull_request: pullRequest ? { url: pullRequest.url } : null,
    status_enum: statusEnum(session),
  };
}

/** A session of the list. */
export function presentListItem({ session, userEmail }: SessionWithEmail): z.input<typeof sessionListItem> {
  const output = session.structuredOutput ?? null;
  return {
    ...presentShared(session),
    structured_output: output === null ? null : JSON.stringify(output),
    requesting_user_email: userEmail,
  };
}

/** A session's details without its messages, which are streamed after them. */
export function presentHead(context: Pick<Context, 'baseUrl'>, session: SessionRecord): z.input<typeof sessionHead> {
  return {
    ...presentShared(session),
    url: sessionUrl(context, session.id),
    structured_output: session.structuredOutput ?? null,
  };
}

/** A message. `origin` is known only for the first one, and equals the session's. */
export function presentMessage(entry: LogEntry, session: SessionRecord, names: Names): z.input<typeof message> {
  const type = entry.messageType ?? 'agent_message';
  return {
    type: wireMessageTypes[type],
    event_id: prefixedId('message', entry.id),
    message: entry.body ?? '',
    timestamp: time(entry.createdAt),
    username: names.get(entry.userId ?? entry.serviceUserId ?? '')?.name ?? null,
    origin: type === 'initial_user_message' ? session.origin : null,
    user_id: entry.userId === null ? null : prefixedId('user', entry.userId),
  };
}
