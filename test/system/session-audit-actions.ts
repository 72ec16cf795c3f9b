import type { AuditAction } from '../../src/domain/audit/record-audit.ts';
import { openPullRequest } from '../../src/domain/open-pull-requests/open-pull-request.ts';
import { suspendSession } from '../../src/domain/sessions/suspend-session.ts';
import { seedFollowUp, seedSessionRepository } from '../support/followed-pull-requests.ts';
import { type Actor, type AuditedAction, agentText } from './audit-actor.ts';

const inOrganization = (organization: string) => `/v3/organizations/${organization}`;

async function makeSession({ rest }: Actor, organization: string): Promise<string> {
  const made = await rest('POST', `${inOrganization(organization)}/sessions`, { prompt: agentText });
  return `devin-${made.session_id}`;
}

/** An act on a new session. */
const onSession =
  (act: (actor: Actor, session: string, organization: string) => Promise<unknown>): AuditedAction =>
  async (actor, organization) => {
    const session = await makeSession(actor, organization);
    await act(actor, session, organization);
    return { target: session, session, organization };
  };

/** A mutation on the first message of a new session. */
const onMessage =
  (field: string, more: object): AuditedAction =>
  async (actor, organization) => {
    const session = await makeSession(actor, organization);
    const path = `${inOrganization(organization)}/sessions/${session}/messages`;
    const [{ event_id: target }] = (await actor.rest('GET', path)).items;
    await actor.mutate(field, { messageId: target, ...more }, 'message { delivery }');
    return { target, session, organization };
  };

/** The actions on sessions and their messages, with the requests that cause them. */
export const sessionAuditedActions: Partial<Record<AuditAction, AuditedAction>> = {
  create_session: onSession(async () => undefined),
  async send_message(actor, organization) {
    const session = await makeSession(actor, organization);
    const path = `${inOrganization(organization)}/sessions/${session}/messages`;
    await actor.rest('POST', path, { message: agentText });
    const { items } = await actor.rest('GET', path);
    return { target: items.at(-1).event_id, session, organization };
  },
  terminate_session: onSession(({ rest }, id, org) => rest('DELETE', `${inOrganization(org)}/sessions/${id}`)),
  interrupt_session: onSession(({ rest }, id, org) => rest('POST', `${inOrganization(org)}/sessions/${id}/interrupt`)),
  edit_message: onMessage('updateQueuedMessage', { body: `${agentText} too` }),
  withdraw_message: onMessage('withdrawMessage', {}),
  open_pull_request: onSession(async (actor, sessionId, organizationId) => {
    await seedSessionRepository(actor.app, { sessionId, organizationId });
    const input = { sessionId, title: agentText, body: agentText, base: 'main' };
    // No forge is there: the entry is written before the request.
    await openPullRequest(await actor.context(), input).catch(() => undefined);
  }),
  set_pull_request_follow_up: onSession(async ({ app, mutate }, sessionId) => {
    const { url } = await seedFollowUp(app, sessionId);
    await mutate('setPullRequestFollowUp', { sessionId, url, mode: 'OFF' }, 'session { status }');
  }),
  send_follow_up: onSession(async ({ app, mutate }, sessionId) => {
    const { followUpId } = await seedFollowUp(app, sessionId);
    await mutate('sendFollowUp', { followUpId }, 'followUp { state }');
  }),
  dismiss_follow_up: onSession(async ({ app, mutate }, sessionId) => {
    const { followUpId } = await seedFollowUp(app, sessionId);
    await mutate('dismissFollowUp', { followUpId }, 'followUp { state }');
  }),
  retry_turn: onSession(async ({ app, mutate }, sessionId) => {
    const { store } = app.app.services;
    const id = sessionId.slice('devin-'.length);
    await store.execute(`update run set queued_at = null, turn_seqs = '{2}' where session_id = $1`, [id]);
    await store.execute(`update session set status = 'error' where id = $1`, [id]);
    await mutate('retryTurn', { sessionId }, 'session { status }');
  }),
  archive_session: onSession(({ mutate }, sessionId) =>
    mutate('archiveSession', { sessionId }, 'session { isArchived }'),
  ),
  unarchive_session: onSession(async ({ mutate }, sessionId) => {
    await mutate('archiveSession', { sessionId }, 'session { isArchived }');
    await mutate('unarchiveSession', { sessionId }, 'session { isArchived }');
  }),
  update_session: onSession(({ mutate }, sessionId) =>
    mutate('updateSession', { sessionId, title: `${agentText} too` }, 'session { title }'),
  ),
  sleep_session: onSession(async ({ context }, sessionId) => suspendSession(await context(), { sessionId })),
  acknowledge_session_hard_cap: onSession(({ mutate }, sessionId) =>
    mutate('updateSession', { sessionId, maxAcuLimit: 3 }, 'session { maxAcuLimit }'),
  ),
  update_session_options: onSession(({ mutate }, sessionId) => {
    const options = [{ optionId: 'model', value: 'm' }];
    return mutate('setSessionOptions', { sessionId, options }, 'session { options { value } }');
  }),
  delete_session_workspace: onSession(async ({ app, context, mutate }, sessionId) => {
    await suspendSession(await context(), { sessionId });
    // The state after a run: without a run there is no workspace to delete.
    const values = ['0'.repeat(16), sessionId.slice('devin-'.length)];
    await app.app.services.store.execute('update run set home_worker_id = $1 where session_id = $2', values);
    await mutate('deleteSessionWorkspace', { sessionId }, 'session { workspaceDeletionRequestedAt }');
  }),
};
