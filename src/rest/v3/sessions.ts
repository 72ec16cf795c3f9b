import { z } from '@hono/zod-openapi';
import { permissionFor } from '../../auth/permissions.ts';
import { useOrganization } from '../../domain/organizations/use-organization.ts';
import { createSession } from '../../domain/sessions/create-session.ts';
import { getSession } from '../../domain/sessions/find-session.ts';
import { listSessions } from '../../domain/sessions/list-sessions.ts';
import { terminateSession } from '../../domain/sessions/terminate-session.ts';
import type { Door } from '../door.ts';
import { booleanParam } from '../query.ts';
import { page, pageOf, presentPage } from './dialect.ts';
import {
  parseSessionCreate,
  parseSessionFilter,
  presentSession,
  sessionCreateRequest,
  sessionListQuery,
  sessionResponse,
} from './session-shapes.ts';

const collection = '/v3/organizations/{org_id}/sessions';
const one = `${collection}/{devin_id}`;

/** `/v3/organizations/{org_id}/sessions`. */
export function serveSessions(door: Door): void {
  door.serve(
    {
      method: 'post',
      paths: [collection],
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
      return { ...presentSession(context, session), ...(isIdempotent ? { is_new_session: isNew } : {}) };
    },
  );

  door.serve(
    {
      method: 'get',
      paths: [collection],
      name: 'listSessions',
      summary: 'List sessions, newest first',
      query: sessionListQuery,
      answer: pageOf(sessionResponse),
      refusals: [403, 404, 422],
    },
    async ({ context, query, param }) => {
      const { first, after } = query;
      const request = { organizationId: param('org_id'), filter: parseSessionFilter(query), first, after };
      return presentPage(await listSessions(context, request, page), (session) => presentSession(context, session));
    },
  );

  door.serve(
    {
      method: 'get',
      paths: [one],
      name: 'getSession',
      summary: 'Read a session',
      answer: sessionResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      const organization = await useOrganization(context, param('org_id'), permissionFor.viewSession);
      return presentSession(context, await getSession(context, param('devin_id'), organization.id));
    },
  );

  door.serve(
    {
      method: 'delete',
      paths: [one],
      name: 'terminateSession',
      summary: 'Terminate a session, and archive it when asked to',
      query: z.object({ archive: booleanParam('archive', { description: 'Archive it too.', default: false }) }),
      answer: sessionResponse,
      refusals: [403, 404, 422],
    },
    async ({ context, query, param }) => {
      const organization = await useOrganization(context, param('org_id'), permissionFor.viewSession);
      const input = { sessionId: param('devin_id'), organizationId: organization.id, archive: query.archive };
      const { session } = await terminateSession(context, input);
      return presentSession(context, session);
    },
  );
}
