import { z } from '@hono/zod-openapi';
import type { Context } from '../../../domain/context.ts';
import { type IdKind, parseId, prefixedId } from '../../../domain/ids.ts';
import { findChildren, type SessionWithChildren } from '../../../domain/sessions/children.ts';
import type { CreateSessionInput } from '../../../domain/sessions/create-session.ts';
import type { PullRequest } from '../../../domain/sessions/session.ts';
import {
  type SessionOrigin,
  type SessionRecord,
  sessionOrigins,
  sessionUrl,
} from '../../../domain/sessions/session.ts';
import type { SessionFilter } from '../../../domain/sessions/session-filter.ts';
import type { SessionsAcrossRequest } from '../../../domain/sessions/sessions-across.ts';
import { publishedDetailOf, publishedStatusDetails, sessionStatuses } from '../../../domain/sessions/status.ts';
import { booleanParam, integerParam, listParam, textParam } from '../query.ts';
import { pageQuery, time, timeSchema } from './dialect.ts';

/** Body of `POST …/sessions` (docs/wire/v3.md#start-a-session). The domain checks the limits. */
export const sessionCreateRequest = z
  .object({
    prompt: z.string().openapi({ description: 'What to do.' }),
    title: z.string().nullish(),
    tags: z.array(z.string()).nullish().openapi({ maxItems: 50 }),
    playbook_id: z.string().nullish(),
    knowledge_ids: z.array(z.string()).nullish().openapi({ description: 'null: all notes; empty: none.' }),
    secret_ids: z.array(z.string()).nullish().openapi({ description: 'null: all secrets; empty: none.' }),
    session_secrets: z
      .array(z.object({ key: z.string(), value: z.string(), sensitive: z.boolean().optional() }))
      .nullish()
      .openapi({ description: 'Secrets of this session only.' }),
    attachment_urls: z
      .array(z.string())
      .nullish()
      .openapi({ description: 'Uploaded files: what `POST …/attachments` gave.' }),
    max_acu_limit: z
      .number()
      .nullish()
      .openapi({ type: ['integer', 'null'], minimum: 1 }),
    repos: z.array(z.string()).nullish().openapi({
      description:
        'Repositories to work on: `owner/repo`, `host/owner/repo` or URLs. Ignored until the enterprise has had a git connection.',
      maxItems: 20,
    }),
    structured_output_schema: z
      .record(z.string(), z.unknown())
      .nullish()
      .openapi({ description: 'JSON Schema (Draft 7), at most 64 KB, self-contained.' }),
    create_as_user_id: z.string().nullish().openapi({ description: 'Needs ImpersonateOrgSessions.' }),
    snapshot_id: z.string().nullish(),
    unlisted: z.boolean().nullish(),
    idempotent: z.boolean().nullish(),
  })
  .openapi('SessionCreateRequest');

/** A session. */
export const sessionResponse = z
  .object({
    session_id: z.string(),
    url: z.string(),
    status: z.enum(sessionStatuses),
    status_detail: z.enum(publishedStatusDetails).nullable(),
    title: z.string().nullable(),
    tags: z.array(z.string()),
    org_id: z.string(),
    created_at: timeSchema,
    updated_at: timeSchema,
    acus_consumed: z.number(),
    pull_requests: z.array(z.object({ pr_url: z.string(), pr_state: z.string().nullable() })),
    user_id: z.string().nullable(),
    service_user_id: z.string().nullable(),
    parent_session_id: z.string().nullable(),
    child_session_ids: z.array(z.string()).openapi({ description: 'The newest 200 that it started, newest first.' }),
    playbook_id: z.string().nullable(),
    automation_id: z.string().nullable(),
    snapshot_id: z.string().nullable(),
    origin: z.string(),
    is_archived: z.boolean(),
    category: z.string().nullable().openapi({ description: 'Nothing is classified: always null.' }),
    subcategory: z.string().nullable(),
    structured_output: z.unknown(),
    is_new_session: z.boolean().optional().openapi({ description: 'On creation, when `idempotent` is true.' }),
  })
  .openapi('SessionResponse');

const bound = (name: string, description: string) =>
  integerParam(name, { description: `${description}, Unix seconds.` });

/** The query of GET …/sessions. */
export const sessionListQuery = z.object({
  ...pageQuery,
  session_ids: listParam('session_ids', { description: 'Only these; unlisted ones among them are shown.' }),
  created_after: bound('created_after', 'Created at or after'),
  created_before: bound('created_before', 'Created before'),
  updated_after: bound('updated_after', 'Updated at or after'),
  updated_before: bound('updated_before', 'Updated before'),
  tags: listParam('tags', { description: 'Sessions with any of these tags.' }),
  playbook_id: textParam('playbook_id', { description: 'Sessions of this playbook.' }),
  origins: listParam('origins', { description: `Any of ${sessionOrigins.join(', ')}; others match no session.` }),
  automation_ids: listParam('automation_ids', { description: 'Sessions of any of these automations.' }),
  user_ids: listParam('user_ids', { description: 'Sessions of any of these users, or of `service_user_ids`.' }),
  service_user_ids: listParam('service_user_ids', {
    description: 'Sessions of any of these service users, or of `user_ids`.',
  }),
  parent_session_id: textParam('parent_session_id', { description: 'Sessions that this one started.' }),
  is_archived: booleanParam('is_archived', { description: 'Only archived ones, or only others.' }),
  schedule_id: textParam('schedule_id', { description: 'Matches no session: none has one.' }),
  repo_names: listParam('repo_names', {
    description: 'Sessions that work on any of these repositories: `owner/repo` or `host/owner/repo`.',
  }),
  pr_state: listParam('pr_state', {
    description:
      'Sessions with a pull request in any of these states: `open`, `closed`, `merged`; others match no session.',
  }),
  category: textParam('category', { description: 'Matches no session: none has one.' }),
});

/** The query of the enterprise's list, with `org_ids` in addition. */
export const enterpriseListQuery = sessionListQuery.extend({
  org_ids: listParam('org_ids', {
    description: 'Sessions of any of these organizations, at most 100; all when left out.',
  }),
  org_id: textParam('org_id', { description: 'The same as one of `org_ids`.' }),
});

/** The organizations of an enterprise's list; undefined: all. An invalid id matches no organization. */
export function parseOrganizations(query: z.output<typeof enterpriseListQuery>): string[] | undefined {
  const organizationIds = query.org_id === undefined ? query.org_ids : [...(query.org_ids ?? []), query.org_id];
  const found = ids('organization', organizationIds);
  return found && [...new Set(found)];
}

/** Converts a request to the domain's input. null equals a missing value, also when idempotency compares inputs. */
export function parseSessionCreate(body: z.output<typeof sessionCreateRequest>): CreateSessionInput {
  return {
    prompt: body.prompt,
    title: body.title ?? undefined,
    tags: body.tags ?? undefined,
    playbookId: body.playbook_id ?? undefined,
    knowledgeIds: body.knowledge_ids ?? undefined,
    secretIds: body.secret_ids ?? undefined,
    attachmentIds: body.attachment_urls ?? undefined,
    sessionSecrets: body.session_secrets?.map(({ key, value, sensitive = true }) => ({ key, value, sensitive })),
    maxAcuLimit: body.max_acu_limit ?? undefined,
    structuredOutputSchema: body.structured_output_schema ?? undefined,
    createAsUserId: body.create_as_user_id ?? undefined,
    repos: body.repos ?? undefined,
    snapshotId: body.snapshot_id ?? undefined,
    isUnlisted: body.unlisted ?? undefined,
  };
}

/** Converts the query of a list of sessions to the domain's request. */
export function parseSessionList(query: z.output<typeof sessionListQuery>): SessionsAcrossRequest {
  const { first, after } = query;
  return { filter: parseSessionFilter(query), first, after };
}

// An invalid id matches nothing; it does not widen the list.
function parseSessionFilter(query: z.output<typeof sessionListQuery>): SessionFilter {
  const at = (seconds: number | undefined) => (seconds === undefined ? undefined : new Date(clamp(seconds) * 1_000));
  const creators = [...(ids('user', query.user_ids) ?? []), ...(ids('serviceUser', query.service_user_ids) ?? [])];
  const matchesNone = query.schedule_id !== undefined || query.category !== undefined;
  return {
    sessionIds: matchesNone ? [] : ids('session', query.session_ids),
    createdAfter: at(query.created_after),
    createdBefore: at(query.created_before),
    updatedAfter: at(query.updated_after),
    updatedBefore: at(query.updated_before),
    tags: query.tags,
    repositories: query.repo_names,
    pullRequestStates: query.pr_state as readonly PullRequest['state'][] | undefined,
    playbookId: one('playbook', query.playbook_id),
    origins: query.origins as readonly SessionOrigin[] | undefined,
    automationIds: ids('automation', query.automation_ids),
    createdBy:
      query.user_ids || query.service_user_ids
        ? { userIds: creators, serviceUserIds: creators, serviceKeyIds: [] }
        : undefined,
    parentId: one('session', query.parent_session_id),
    isArchived: query.is_archived,
  };
}

// Clamps to 1970–9999: no session lies outside, and PostgreSQL does not read the text that Date writes for such years.
function clamp(seconds: number): number {
  return Math.min(Math.max(seconds, 0), 253_402_300_799);
}

function ids(kind: IdKind, values: readonly string[] | undefined): string[] | undefined {
  return values?.flatMap((text) => parseId(kind, text) ?? []);
}

function one(kind: IdKind, value: string | undefined): string | undefined {
  return value === undefined ? undefined : (parseId(kind, value) ?? 'none');
}

/** Presents a session that was read with its child sessions. */
export function presentWithChildren(context: Context, session: SessionWithChildren): z.input<typeof sessionResponse> {
  return present(context, session, session.childIds);
}

/** Presents sessions in their order. Their child sessions are read in one query. */
export async function presentSessions(
  context: Context,
  sessions: readonly SessionRecord[],
): Promise<z.input<typeof sessionResponse>[]> {
  const children = await findChildren(context, sessions);
  return sessions.map((session) => present(context, session, children.get(session.id) ?? []));
}

/** Presents one session. */
export async function presentSession(
  context: Context,
  session: SessionRecord,
): Promise<z.input<typeof sessionResponse>> {
  const children = await findChildren(context, [session]);
  return present(context, session, children.get(session.id) ?? []);
}

// Version 3 writes the unprefixed id (docs/wire/ids.md#writing).
function present(
  context: Context,
  session: SessionRecord,
  children: readonly string[],
): z.input<typeof sessionResponse> {
  const prefixed = (kind: IdKind, id: string | null) => (id === null ? null : prefixedId(kind, id));
  return {
    session_id: session.id,
    url: sessionUrl(context, session.id),
    status: session.status,
    status_detail: publishedDetailOf(session.statusDetail),
    title: session.title,
    tags: [...session.tags],
    org_id: prefixedId('organization', session.organizationId),
    created_at: time(session.createdAt),
    updated_at: time(session.updatedAt),
    acus_consumed: session.acusConsumed,
    pull_requests: session.pullRequests.map(({ url, state }) => ({ pr_url: url, pr_state: state })),
    user_id: prefixed('user', session.userId),
    service_user_id: prefixed('serviceUser', session.serviceUserId),
    parent_session_id: session.parentId,
    child_session_ids: [...children],
    playbook_id: prefixed('playbook', session.playbookId),
    automation_id: prefixed('automation', session.automationId),
    snapshot_id: session.snapshotId,
    origin: session.origin,
    is_archived: session.isArchived,
    category: null,
    subcategory: null,
    structured_output: session.structuredOutput ?? null,
  };
}
