import { permissionFor } from '../../../auth/permissions.ts';
import { DomainError, refuse } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import { getSessionFor } from '../../sessions/find-session.ts';
import type { Action } from '../model/definition.ts';
import { type PromptReferences, requireRepositories, resolvePrompt } from './prompt-references.ts';

/**
 * Returns the actions with unprefixed ids, and with the playbook and the repositories that their prompts name. The
 * organization must be able to use each playbook, macro, secret and repository. A session that receives messages must belong to the
 * organization, and the caller must be able to write to it. Throws UNKNOWN_REFERENCE at the id or the prompt,
 * FORBIDDEN.
 */
export async function resolveActions(
  context: Context,
  organizationId: string,
  actions: readonly Action[],
): Promise<Action[]> {
  const scope = { organizationId, enterpriseId: context.viewer.enterpriseId };
  const resolved: Action[] = [];
  for (const [n, action] of actions.entries()) {
    const path = ['actions', String(n)];
    if (action.type === 'monitor_session') {
      resolved.push(action);
      continue;
    }
    const named = await resolvePrompt(context.store, scope, action.prompt, [...path, 'prompt']);
    if (action.type === 'message_session' && action.targetSessionId != null) {
      const targetSessionId = await findTarget(context, organizationId, action.targetSessionId, [
        ...path,
        'targetSessionId',
      ]);
      resolved.push({ ...action, targetSessionId });
    } else if (action.type === 'start_session') {
      const requestedId = action.session?.playbookId ?? null;
      const playbookPath = [...path, 'session', 'playbookId'];
      const chosen =
        requestedId === null ? null : await findPlaybook(context, organizationId, requestedId, playbookPath);
      // The prompt's repositories replace these.
      if (named.repos === null) {
        await requireRepositories(context.store, scope, action.session?.repos ?? [], [...path, 'session', 'repos']);
      }
      resolved.push(withNamed(action, named, chosen));
    } else resolved.push(action);
  }
  return resolved;
}

// References in the prompt take precedence over the action's fields, which may come from an earlier prompt.
function withNamed(
  action: Extract<Action, { type: 'start_session' }>,
  { playbookId, repos }: PromptReferences,
  chosenId: string | null,
): Action {
  const derived = {
    ...(chosenId === null ? {} : { playbookId: chosenId }),
    ...(playbookId === null ? {} : { playbookId }),
    ...(repos === null ? {} : { repos: [...repos] }),
  };
  return Object.keys(derived).length === 0 ? action : { ...action, session: { ...action.session, ...derived } };
}

/**
 * Returns the unprefixed id of a session of the organization that the caller may write to. Throws UNKNOWN_REFERENCE at
 * `path`, FORBIDDEN.
 */
export async function findTarget(
  context: Context,
  organizationId: string,
  sessionId: string,
  path: readonly string[],
): Promise<string> {
  try {
    return (await getSessionFor(context, permissionFor.sendMessage, { sessionId, organizationId })).id;
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'NOT_FOUND') throw error;
    throw unknown(path, sessionId);
  }
}

/** Returns the unprefixed id of a playbook that the organization may use. Throws UNKNOWN_REFERENCE at `path`. */
export async function findPlaybook(
  context: Context,
  organizationId: string,
  playbookId: string,
  path: readonly string[],
): Promise<string> {
  const [playbook] = await context.store.query<{ id: string }>(
    `select p.id from playbook p where p.id = $1 and (p.organization_id = $2 or p.organization_id is null)
        and p.enterprise_id = $3 and p.deleted_at is null`,
    [parseId('playbook', playbookId), organizationId, context.viewer.enterpriseId],
  );
  if (!playbook) throw unknown(path, playbookId);
  return playbook.id;
}

function unknown(path: readonly string[], id: string): DomainError {
  const message = `"${path.at(-1)}" refers to ${JSON.stringify(id.slice(0, 80))}, which does not exist.`;
  return refuse(path, message, 'UNKNOWN_REFERENCE');
}
