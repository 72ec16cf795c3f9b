import { permissionFor } from '../../../auth/permissions.ts';
import { requirePermission } from '../../../auth/viewer.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { DomainError } from '../../errors.ts';
import type { OrganizationRecord } from '../../identity/organizations/use-organization.ts';
import { insertSession } from '../../sessions/create-session.ts';
import { insertMessage } from '../../sessions/messages.ts';
import type { AutomationRecord } from '../model/automations.ts';
import type { Action } from '../model/definition.ts';
import { resolvePrompt } from './prompt-references.ts';

/** What is to be done, and where. */
export interface Execution {
  readonly automation: AutomationRecord;
  readonly organization: OrganizationRecord;
  /** What the prompt is followed by: the event that is answered, as text; null: nothing. */
  readonly addition: string | null;
}

/**
 * Does what an automation is for, as its owner: `context` is the owner's. What the prompts name is looked up now: a playbook, a
 * macro or a secret may have gone since they were written (UNKNOWN_REFERENCE). Gives the session that it started, or else the
 * first that it wrote to. The errors of starting sessions and of sending messages; the caller undoes what was done before one.
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
  if (sessionId === null) throw new DomainError('INVALID_STATE', 'The automation has nothing to do.');
  return sessionId;
}

// The session that was made is what it writes to from now on. Nobody has changed the automation by that.
async function saveTargets(tx: Transaction, { id }: AutomationRecord, actions: readonly Action[]): Promise<void> {
  await tx.query('update automation set actions = $2::jsonb where id = $1', [id, JSON.stringify(actions)]);
}

/** An action, and where its prompt stands. */
type ActionAtPath<Type extends Action['type']> = Extract<Action, { type: Type }> & { readonly path: readonly string[] };

// What is added is not looked through for names: whoever sends an event must not choose secrets by it.
const promptOf = (prompt: string, { addition }: Execution) => (addition === null ? prompt : `${prompt}\n\n${addition}`);

async function startSession(
  context: Context,
  tx: Transaction,
  execution: Execution,
  { prompt, session, path }: Pick<ActionAtPath<'start_session'>, 'prompt' | 'session' | 'path'>,
): Promise<string> {
  const { automation, organization } = execution;
  const { playbookId, secretIds } = await resolvePrompt(tx, scopeOf(organization), prompt, path);
  return insertSession(context, tx, organization, {
    input: {
      prompt: promptOf(prompt, execution),
      tags: session?.tags,
      playbookId: playbookId ?? session?.playbookId,
      secretIds: secretIds && [...secretIds],
      maxAcuLimit: maxAcus(automation, organization),
    },
    automationId: automation.id,
  });
}

const scopeOf = ({ id, enterpriseId }: OrganizationRecord) => ({ organizationId: id, enterpriseId });

// An automation may be older than its organization's limit, which holds then.
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
    throw new DomainError('INVALID_STATE', 'There is no session that the message could be sent to.');
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
    if (await trySendMessage(context, tx, message)) return targetSessionId;
  }
  // Leave to write is not leave to start.
  requirePermission(context.viewer, permissionFor.createSession, organization.id, true);
  return startSession(context, tx, execution, { prompt, session: null, path });
}

/** Sends a message; false, and nothing has been done, where its session is gone or takes no more. */
async function trySendMessage(
  context: Context,
  tx: Transaction,
  message: Parameters<typeof insertMessage>[2],
): Promise<boolean> {
  await tx.query('savepoint message');
  try {
    await insertMessage(context, tx, message);
    return true;
  } catch (error) {
    const isOver = error instanceof DomainError && (error.code === 'NOT_FOUND' || error.code === 'INVALID_STATE');
    if (!isOver) throw error;
    await tx.query('rollback to savepoint message');
    return false;
  }
}
