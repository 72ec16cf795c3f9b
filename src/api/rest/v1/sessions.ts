import { z } from '@hono/zod-openapi';
import { DomainError } from '../../../common/errors.ts';
import { getOnlyOrganizationId } from '../../../domain/identity/organizations/use-organization.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { createSession } from '../../../domain/sessions/create-session.ts';
import { getSession } from '../../../domain/sessions/find-session.ts';
import { listSessionsByOffset } from '../../../domain/sessions/list-sessions-by-offset.ts';
import { sendMessage } from '../../../domain/sessions/messages.ts';
import { sessionUrl } from '../../../domain/sessions/session.ts';
import { replaceTags } from '../../../domain/sessions/tags.ts';
import { terminateSession } from '../../../domain/sessions/terminate-session.ts';
import { integerParam, listParam, textParam } from '../query.ts';
import { RequestError } from '../refusal.ts';
import type { VersionApi } from '../version-api.ts';
import { organizationOf, page } from './dialect.ts';
import {
  createSessionRequest,
  createSessionResponse,
  detailResponse,
  editTagsRequest,
  parseCreateSession,
  presentListItem,
  sendMessageRequest,
  sendMessageResponse,
  sessionDetails,
  sessionListResponse,
} from './session-shapes.ts';
import { streamDetails } from './session-stream.ts';

const listQuery = z.object({
  limit: integerParam('limit', {
    description: 'Sessions in this page.',
    minimum: 1,
    maximum: page.max,
    default: page.default,
  }),
  offset: integerParam('offset', { description: 'Sessions to skip.', minimum: 0, default: 0 }),
  tags: listParam('tags', { description: 'Sessions with any of these tags.' }),
  user_email: textParam('user_email', { description: 'Sessions that this user started.' }),
});

/** `/v1/sessions`, and `/v1/session`, which as many clients call (docs/wire/v1.md#routes). */
export function serveSessions(api: VersionApi): void {
  serveCollection(api);
  serveOne(api);
}

function serveCollection(api: VersionApi): void {
  api.serve(
    {
      method: 'post',
      paths: ['/v1/sessions', '/v1/session'],
      name: 'createSession',
      successor: 'POST /v3/organizations/{org_id}/sessions',
      summary: 'Start a session',
      body: createSessionRequest,
      answer: createSessionResponse,
      refusals: [400, 403, 413],
      takesIdempotencyKey: true,
      badInput: 400,
    },
    async ({ context, body, idempotencyKey }) => {
      const isIdempotent = body.idempotent === true;
      const organizationId = await getOnlyOrganizationId(context);
      const options = { organizationId, origin: 'api', idempotencyKey, isIdempotent } as const;
      const { session, isNew } = await createSession(context, parseCreateSession(body), options);
      return {
        session_id: prefixedId('session', session.id),
        url: sessionUrl(context, session.id),
        ...(isIdempotent ? { is_new_session: isNew } : {}),
      };
    },
  );

  api.serve(
    {
      method: 'get',
      paths: ['/v1/sessions', '/v1/session'],
      name: 'listSessions',
      successor: 'GET /v3/organizations/{org_id}/sessions',
      summary: 'List sessions, newest first',
      query: listQuery,
      answer: sessionListResponse,
      refusals: [403, 422],
    },
    async ({ context, query }) => {
      const { limit: first, offset } = query;
      const filter = { tags: query.tags, userEmail: query.user_email };
      const organizationId = await organizationOf(context);
      const items = await listSessionsByOffset(context, { organizationId, filter, first, offset }, page);
      return { sessions: items.map(presentListItem) };
    },
  );
}

function serveOne(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: ['/v1/sessions/{session_id}', '/v1/session/{session_id}'],
      name: 'getSession',
      successor: 'GET /v3/organizations/{org_id}/sessions/{session_id}',
      summary: 'Read a session and all its messages',
      answer: sessionDetails,
      refusals: [403, 404],
    },
    async ({ context, param }) => streamDetails(context, await getSession(context, param('session_id'))),
  );

  api.serve(
    {
      method: 'post',
      paths: [
        '/v1/sessions/{session_id}/message',
        '/v1/session/{session_id}/message',
        '/v1/sessions/{session_id}/messages',
        '/v1/session/{session_id}/messages',
      ],
      name: 'sendMessage',
      successor: 'POST /v3/organizations/{org_id}/sessions/{session_id}/messages',
      summary: 'Send a message to a session',
      body: sendMessageRequest,
      answer: sendMessageResponse,
      refusals: [400, 403, 404, 413, 422],
      takesIdempotencyKey: true,
    },
    async ({ context, body, param, idempotencyKey }) => {
      const input = { sessionId: param('session_id'), message: body.message, idempotencyKey };
      try {
        await sendMessage(context, input);
        return null;
      } catch (error) {
        // Clients read the refusal from `detail` of a 200 (docs/wire/v1.md#send-a-message).
        if (error instanceof DomainError && error.code === 'INVALID_STATE') return { detail: error.message };
        throw error;
      }
    },
  );

  api.serve(
    {
      method: 'delete',
      paths: ['/v1/sessions/{session_id}', '/v1/session/{session_id}', '/sessions/{session_id}'],
      name: 'terminateSession',
      successor: 'DELETE /v3/organizations/{org_id}/sessions/{session_id}',
      summary: 'Terminate a session',
      answer: detailResponse,
      refusals: [400, 403, 404],
    },
    async ({ context, param }) => {
      const { wasOver } = await terminateSession(context, { sessionId: param('session_id') }).catch(
        (error: unknown) => {
          const isForbidden = error instanceof DomainError && error.code === 'FORBIDDEN';
          throw isForbidden ? new RequestError('Forbidden - Only session owner can terminate', { status: 403 }) : error;
        },
      );
      if (wasOver) throw new RequestError('Devin session already exited', { status: 400 });
      return { detail: 'Session terminated successfully' };
    },
  );

  api.serve(
    {
      method: 'put',
      paths: ['/v1/sessions/{session_id}/tags', '/v1/session/{session_id}/tags'],
      name: 'updateSessionTags',
      successor: 'PUT /v3/organizations/{org_id}/sessions/{session_id}/tags',
      summary: 'Set the tags of a session',
      body: editTagsRequest,
      answer: detailResponse,
      refusals: [400, 403, 404, 413, 422],
    },
    async ({ context, body, param }) => {
      await replaceTags(context, { sessionId: param('session_id'), tags: body.tags });
      return { detail: 'Tags updated successfully' };
    },
  );
}
