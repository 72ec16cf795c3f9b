import type { z } from '@hono/zod-openapi';
import { permissionFor } from '../../../auth/permissions.ts';
import type { Context } from '../../../domain/context.ts';
import { throughEnterprise } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { enterOrganization, useOrganization } from '../../../domain/identity/organizations/use-organization.ts';
import { parseId } from '../../../domain/ids.ts';
import { findChildren, type SessionWithChildren } from '../../../domain/sessions/children.ts';
import { getSession, getSessionWithin, type SessionTarget } from '../../../domain/sessions/find-session.ts';
import {
  type SendMessageInput,
  type SentMessage,
  sendMessage,
  sendMessageWithin,
} from '../../../domain/sessions/messages.ts';
import { textParam } from '../query.ts';

/**
 * The permission that a route checks before the domain does. In an organization, `manage` checks only that the caller may
 * use the organization: the domain checks the permission of the operation.
 */
export type SessionAct = 'view' | 'manage';

/** One of the two scopes that have session routes. */
export interface SessionScope {
  /** The path of the list. */
  readonly sessions: string;
  /** The path of one session. */
  readonly one: string;
  /** The word for the scope in operation names. */
  readonly word: string;
  /** The words for the scope in summaries. */
  readonly of: string;
  /** The query parameters of every route of one session. */
  readonly query: { readonly org_id: ReturnType<typeof textParam> } | Record<never, never>;
  /** Returns the caller's context on these paths, and the session of the path. */
  readonly enter: (call: SessionCall, act: SessionAct) => Promise<{ context: Context; target: SessionTarget }>;
  /** Finds the session of the path, if the caller may read it, with its child sessions. */
  readonly find: (call: SessionCall) => Promise<SessionWithChildren>;
  /** Sends a message to the session of the path. */
  readonly send: (
    call: SessionCall,
    message: Omit<SendMessageInput, 'sessionId' | 'organizationId'>,
  ) => Promise<SentMessage>;
}

/** The parts of a call that {@link SessionScope.enter} needs. */
export interface SessionCall {
  readonly context: Context;
  readonly query: z.core.output<z.ZodObject>;
  readonly param: (name: string) => string;
}

const inOrganization = '/v3/organizations/{org_id}/sessions';
const inEnterprise = '/v3/enterprise/sessions';

const enterEnterprise: SessionScope['enter'] = async ({ context, query, param }, act) => {
  // An invalid id belongs to no organization, so no session is found.
  const organizationId = typeof query.org_id === 'string' ? (parseId('organization', query.org_id) ?? '') : undefined;
  return { context: throughEnterprise(context, act), target: { sessionId: param('devin_id'), organizationId } };
};

/** `/v3/organizations/{org_id}/sessions` and `/v3/enterprise/sessions`. */
export const sessionScopes: readonly [organization: SessionScope, enterprise: SessionScope] = [
  {
    sessions: inOrganization,
    one: `${inOrganization}/{devin_id}`,
    word: '',
    of: 'of an organization',
    query: {},
    async enter({ context, param }, act) {
      // A caller that may manage sessions may not be able to read them. The domain checks the permission that the
      // operation needs.
      const { id } =
        act === 'view'
          ? await useOrganization(context, param('org_id'), permissionFor.viewSession)
          : await enterOrganization(context, param('org_id'));
      return { context, target: { sessionId: param('devin_id'), organizationId: id } };
    },
    find: ({ context, param }) => getSessionWithin(context, param('org_id'), param('devin_id')),
    send: ({ context, param }, message) =>
      sendMessageWithin(context, param('org_id'), { ...message, sessionId: param('devin_id') }),
  },
  {
    sessions: inEnterprise,
    one: `${inEnterprise}/{devin_id}`,
    word: 'Enterprise',
    of: 'of the enterprise',
    query: { org_id: textParam('org_id', { description: 'The session must be of this organization.' }) },
    enter: enterEnterprise,
    async find(call) {
      const { context, target } = await enterEnterprise(call, 'view');
      const session = await getSession(context, target.sessionId, target.organizationId);
      const children = await findChildren(context, [session]);
      return { ...session, childIds: children.get(session.id) ?? [] };
    },
    async send(call, message) {
      const { context, target } = await enterEnterprise(call, 'manage');
      return sendMessage(context, { ...message, ...target });
    },
  },
];
