import { z } from '@hono/zod-openapi';
import { archiveSession, unarchiveSession } from '../../../domain/sessions/archive-session.ts';
import { createSession } from '../../../domain/sessions/create-session.ts';
import { interruptSession } from '../../../domain/sessions/interrupt-session.ts';
import { listSessions } from '../../../domain/sessions/list-sessions.ts';
import { listEnterpriseSessions } from '../../../domain/sessions/sessions-across.ts';
import { terminateSession } from '../../../domain/sessions/terminate-session.ts';
import { booleanParam } from '../query.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, presentPage, presentPageOf } from './dialect.ts';
import { type SessionScope, sessionScopes } from './session-scopes.ts';
import {
  enterpriseListQuery,
  parseOrganizations,
  parseSessionCreate,
  parseSessionList,
  presentSession,
  presentSessions,
  presentWithChildren,
  sessionCreateRequest,
  sessionListQuery,
  sessionResponse,
} from './session-shapes.ts';

const [{ sessions: inOrganization }, { sessions: inEnterprise }] = sessionScopes;

/** `…/sessions` of organizations, and of the enterprise. */
export function serveSessions(api: VersionApi): void {
  serveLists(api);
  for (const scope of sessionScopes) serveOne(api, scope);
}

function serveLists(api: VersionApi): void {
  api.serve(
    {
      method: 'post',
      paths: [inOrganization],
      name: 'createSession',
      summary: 'Start a session',
      body: sessionCreateRequest,
      answer: sessionResponse,
      refusals: [400, 403, 404, 413, 422],
      takesIdempotencyKey: true,
    },
    async ({ context, body, param, idempotencyKey }) => {
      const isIdempotent = body.idempotent === true;
      const options = { organizationId: param('org_id'), origin: 'api', idempotencyKey, isIdempotent } as const;
      const { session, isNew } = await createSession(context, parseSessionCreate(body), options);
      return { ...(await presentSession(context, session)), ...(isIdempotent ? { is_new_session: isNew } : {}) };
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [inOrganization],
      name: 'listSessions',
      summary: 'List sessions of an organization, newest first',
      query: sessionListQuery,
      answer: pageOf(sessionResponse),
      refusals: [403, 404, 422],
    },
    async ({ context, query, param }) => {
      const request = { organizationId: param('org_id'), ...parseSessionList(query) };
      return presentPage(await listSessions(context, request, page), (session) =>
        presentWithChildren(context, session),
      );
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [inEnterprise],
      name: 'listEnterpriseSessions',
      summary: 'List sessions of all organizations of the enterprise, or of some, newest first',
      query: enterpriseListQuery,
      answer: pageOf(sessionResponse),
      refusals: [403, 422],
    },
    async ({ context, query }) => {
      const request = { organizationIds: parseOrganizations(query), ...parseSessionList(query) };
      const records = await listEnterpriseSessions(context, request, page);
      return presentPageOf(records, await presentSessions(context, records.items));
    },
  );
}

function serveOne(api: VersionApi, { one, word, of, query, enter, find }: SessionScope): void {
  api.serve(
    {
      method: 'get',
      paths: [one],
      name: `get${word}Session`,
      summary: `Read a session ${of}`,
      query: z.object(query),
      answer: sessionResponse,
      refusals: [403, 404],
    },
    async (call) => presentWithChildren(call.context, await find(call)),
  );

  api.serve(
    {
      method: 'delete',
      paths: [one],
      name: `terminate${word}Session`,
      summary: `Terminate a session ${of}, and archive it when asked to`,
      query: z.object({
        ...query,
        archive: booleanParam('archive', { description: 'Archive it too.', default: false }),
      }),
      answer: sessionResponse,
      refusals: [403, 404, 422],
    },
    async (call) => {
      const { context, target } = await enter(call, 'manage');
      const { session } = await terminateSession(context, { ...target, archive: call.query.archive });
      return presentSession(context, session);
    },
  );

  api.serve(
    {
      method: 'post',
      paths: [`${one}/interrupt`],
      name: `interrupt${word}Session`,
      summary: `Stop the work of a session ${of}, which then waits for the next message`,
      query: z.object(query),
      answer: sessionResponse,
      refusals: [403, 404, 422],
      takesIdempotencyKey: true,
    },
    async (call) => {
      const { context, target } = await enter(call, 'manage');
      const { idempotencyKey } = call;
      return presentSession(context, await interruptSession(context, { ...target, idempotencyKey }));
    },
  );

  api.serve(
    {
      method: 'post',
      paths: [`${one}/archive`],
      name: `archive${word}Session`,
      summary: `Archive a session ${of}; it is put to sleep when it is at work`,
      query: z.object(query),
      answer: sessionResponse,
      refusals: [403, 404],
    },
    async (call) => {
      const { context, target } = await enter(call, 'manage');
      return presentSession(context, await archiveSession(context, target));
    },
  );

  api.serve(
    {
      method: 'post',
      paths: [`${one}/unarchive`],
      name: `unarchive${word}Session`,
      summary: `Take a session ${of} out of the archive, and none of those that it started`,
      query: z.object(query),
      answer: sessionResponse,
      refusals: [403, 404],
    },
    async (call) => {
      const { context, target } = await enter(call, 'manage');
      return presentSession(context, await unarchiveSession(context, target));
    },
  );
}
