import { permissionFor } from '../../../auth/permissions.ts';
import { requirePermission } from '../../../auth/viewer.ts';
import { DomainError } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import type { OrganizationRecord } from '../../identity/organizations/use-organization.ts';
import { insertSession } from '../../sessions/create-session.ts';
import { insertMessage } from '../../sessions/messages.ts';
import { tryInsertMessage } from '../../sessions/try-insert-message.ts';
import type { AutomationRecord } from '../model/automations.ts';
import type { Action } from '../model/definition.ts';
import type { RunRepository } from '../model/runs.ts';
import { resolvePrompt } from './prompt-references.ts';

/** The actions to execute, and their event. */
export interface Execution {
  readonly automation: AutomationRecord;
  readonly organization: OrganizationRecord;
  /** Text that follows the prompt: the event that started the run; null: none. */
  readonly addition: string | null;
  /** The repository that new sessions work in if their prompt names none; null: the event is about none. */
  readonly repository: RunRepository | null;
}

/**
 * Executes the actions of an automation as its owner: `context` is the owner's. The references in the prompts are
 * looked up now: a playbook, a macro or a secret may have been deleted since they were written (UNKNOWN_REFERENCE).
 * Returns the session that it started, or else the first that it wrote to. Throws the errors of starting sessions and
 * of sending messages; the caller rolls back the actions before one.
 */
export async function executeActions(context: Context, tx: Transaction, execution: Execution): Promise<string> {
  let startedSessionId: string | null = null;
  let messagedSessionId: string | null = null;
  const { actions } = execution.automation;
  const after: Action[] = [...actions];
  for (const [n, action] of actions.entries()) {
    const path = ['actions', String(n), 'prompt'];
    if (action.type === 'start_session') {
      startedSessionId = await startSession(context, tx, execution, { ...action, path });
    } else if (action.type === 'message_session') {
      const sessionId = await writeToSession(context, tx, execution, { ...action, path });
      if (sessionId !== action.targetSessionId) after[n] = { ...action, targetSessionId: sessionId };
      messagedSessionId ??= sessionId;
    } else {
      throw new DomainError('INVALID_STATE', 'monitor_session watches Slack, which this service is not connected to.');
    }
  }
  if (after.some((action, n) => action !== actions[n])) await saveTargets(tx, execution.automation, after);
  const sessionId = startedSessionId ?? messagedSessionId;
  if (sessionId === null) throw new DomainError('INVALID_STATE', 'The automation has no action.');
  return sessionId;
}

// Stores the new session as the target of later messages. This does not count as a change of the automation.
async function saveTargets(tx: Transaction, { id }: AutomationRecord, actions: readonly Action[]): Promise<void> {
  await tx.query('update automation set actions = $2::jsonb where id = $1', [id, JSON.stringify(actions)]);
}

/** An action and the path of its prompt. */
type ActionAtPath<Type extends Action['type']> = Extract<Action, { type: Type }> & { readonly path: readonly string[] };

// The addition is not searched for references: the sender of an event must not select secrets with it.
const promptOf = (prompt: string, { addition }: Execution) => (addition === null ? prompt : `${prompt}\n\n${addition}`);

async function startSession(
  context: Context,
  tx: Transaction,
  execution: Execution,
  { prompt, session, path }: Pick<ActionAtPath<'start_session'>, 'prompt' | 'session' | 'path'>,
): Promise<string> {
  const { automation, organization, repository } = execution;
  const { playbookId, secretIds, repos } = await resolvePrompt(tx, scopeOf(organization), prompt, path);
  const named = repos ? [...repos] : (session?.repos ?? []);
  return insertSession(context, tx, organization, {
    input: {
      prompt: promptOf(prompt, execution),
      tags: session?.tags,
      playbookId: playbookId ?? session?.playbookId,
      secretIds: secretIds && [...secretIds],
      ...(named.length === 0 && repository !== null ? { repositories: [toInput(repository)] } : { repos: named }),
      maxAcuLimit: maxAcus(automation, organization),
    },
    automationId: automation.id,
  });
}

// As a URL, the host cannot be taken for a part of the path.
const toInput = ({ repository, pullRequest, ref }: RunRepository) => ({
  repository: `https://${repository}`,
  pullRequest,
  ref,
});

const scopeOf = ({ id, enterpriseId }: OrganizationRecord) => ({ organizationId: id, enterpriseId });

// An automation may be older than its organization's limit, which applies at execution.
function maxAcus(
  { options }: AutomationRecord,
  { maxSessionAcuLimit: organizationMax }: OrganizationRecord,
): number | null {
  const requested = options.limits?.maxAcuLimit ?? null;
  return requested === null || organizationMax === null || organizationMax === 0
    ? requested
    : Math.min(requested, organizationMax);
}

async function writeToSession(
  context: Context,
  tx: Transaction,
  execution: Execution,
  action: ActionAtPath<'message_session'>,
): Promise<string> {
  const { prompt, targetSessionId, autoCreate, path } = action;
  const { organization } = execution;
  if (targetSessionId == null && !autoCreate) {
    throw new DomainError('INVALID_STATE', 'No session can receive the message.');
  }
  if (targetSessionId != null) {
    await resolvePrompt(tx, scopeOf(organization), prompt, path);
    const message = {
      sessionId: targetSessionId,
      organizationId: organization.id,
      message: promptOf(prompt, execution),
    };
    if (!autoCreate) {
      await insertMessage(context, tx, message);
      return targetSessionId;
    }
    if (await tryInsertMessage(context, tx, message)) return targetSessionId;
  }
  // The permission to send messages does not include the permission to start sessions.
  requirePermission(context.viewer, permissionFor.createSession, organization.id, true);
  return startSession(context, tx, execution, { prompt, session: null, path });
}
