import { z } from '@hono/zod-openapi';
import { permissionFor } from '../../../auth/permissions.ts';
import type { Context } from '../../../domain/context.ts';
import { getSession, getSessionFor } from '../../../domain/sessions/find-session.ts';
import { readInsights, sessionSizes } from '../../../domain/sessions/insights.ts';
import { listSessions } from '../../../domain/sessions/list-sessions.ts';
import type { SessionRecord } from '../../../domain/sessions/session.ts';
import { listEnterpriseSessions } from '../../../domain/sessions/sessions-across.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, presentPageOf } from './dialect.ts';
import { type SessionScope, sessionScopes } from './session-scopes.ts';
import {
  enterpriseListQuery,
  parseOrganizations,
  parseSessionList,
  presentSessions,
  sessionListQuery,
  sessionResponse,
} from './session-shapes.ts';

const sessionInsights = sessionResponse
  .extend({
    num_user_messages: z.int(),
    num_devin_messages: z.int(),
    session_size: z.enum(sessionSizes).openapi({ description: 'By ACUs: below 1, 3, 6, 12, and above.' }),
    analysis: z.null().openapi({ description: 'Nothing is analysed here: always null.' }),
  })
  .openapi('SessionInsights');

const generated = z
  .object({ session_id: z.string(), status: z.enum(['started', 'already_exists']) })
  .openapi('SessionInsightsGenerateResponse');

async function presentInsights(
  context: Context,
  sessions: readonly SessionRecord[],
): Promise<z.input<typeof sessionInsights>[]> {
  const [shown, insights] = await Promise.all([presentSessions(context, sessions), readInsights(context, sessions)]);
  return shown.map((session, n) => ({
    ...session,
    num_user_messages: insights[n]?.userMessageCount ?? 0,
    num_devin_messages: insights[n]?.agentMessageCount ?? 0,
    session_size: insights[n]?.size ?? 'xs',
    analysis: null,
  }));
}

const [{ sessions: inOrganization }, { sessions: inEnterprise }] = sessionScopes;

/** `…/sessions/insights` and `…/sessions/{devin_id}/insights`. Must be served before `…/sessions/{devin_id}`. */
export function serveInsights(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [`${inOrganization}/insights`],
      name: 'listSessionInsights',
      summary: 'List sessions of an organization with what can be said of them, newest first',
      query: sessionListQuery,
      answer: pageOf(sessionInsights),
      refusals: [403, 404, 422],
    },
    async ({ context, query, param }) => {
      const request = { organizationId: param('org_id'), ...parseSessionList(query) };
      const records = await listSessions(context, request, page);
      return presentPageOf(records, await presentInsights(context, records.items));
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [`${inEnterprise}/insights`],
      name: 'listEnterpriseSessionInsights',
      summary: 'List sessions of the enterprise with what can be said of them, newest first',
      query: enterpriseListQuery,
      answer: pageOf(sessionInsights),
      refusals: [403, 422],
    },
    async ({ context, query }) => {
      const request = { organizationIds: parseOrganizations(query), ...parseSessionList(query) };
      const records = await listEnterpriseSessions(context, request, page);
      return presentPageOf(records, await presentInsights(context, records.items));
    },
  );

  for (const scope of sessionScopes) serveOne(api, scope);
}

function serveOne(api: VersionApi, { one, word, of, query, enter }: SessionScope): void {
  api.serve(
    {
      method: 'get',
      paths: [`${one}/insights`],
      name: `get${word}SessionInsights`,
      summary: `Read a session ${of} with what can be said of it`,
      query: z.object(query),
      answer: sessionInsights,
      refusals: [403, 404],
    },
    async (call) => {
      const { context, target } = await enter(call, 'view');
      const session = await getSession(context, target.sessionId, target.organizationId);
      const [insights] = await presentInsights(context, [session]);
      return insights as z.input<typeof sessionInsights>;
    },
  );

  api.serve(
    {
      method: 'post',
      paths: [`${one}/insights/generate`],
      name: `generate${word}SessionInsights`,
      summary: `Ask for the insights of a session ${of}; they are counted when they are read, so they are always there`,
      query: z.object(query),
      answer: generated,
      refusals: [403, 404],
    },
    async (call) => {
      const { context, target } = await enter(call, 'manage');
      const { id } = await getSessionFor(context, permissionFor.changeSession, target);
      return { session_id: id, status: 'already_exists' as const };
    },
  );
}
