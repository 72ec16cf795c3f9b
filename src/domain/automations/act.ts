import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { DomainError } from '../errors.ts';
import type { OrganizationRecord } from '../organizations/use-organization.ts';
import { insertSession } from '../sessions/create-session.ts';
import { insertMessage } from '../sessions/messages.ts';
import type { AutomationRecord } from './automations.ts';
import type { Action } from './definition.ts';

/** What is to be done, and where. */
export interface Acting {
  readonly automation: AutomationRecord;
  readonly organization: OrganizationRecord;
  /** What the prompt is followed by: the event that is answered, as text; null: nothing. */
  readonly addition: string | null;
}

/**
 * Does what an automation is for, as its owner: `context` is the owner's. Gives the session that it started, or else the
 * first that it wrote to. The errors of starting sessions and of sending messages; the caller undoes what was done before one.
 */
export async function act(context: Context, tx: Transaction, acting: Acting): Promise<string> {
  let started: string | null = null;
  let written: string | null = null;
  for (const action of acting.automation.actions) {
    if (action.type === 'start_session') {
      started = await startSession(context, tx, acting, action);
    } else if (action.type === 'message_session') {
      const sessionId = await writeToSession(context, tx, acting, action);
      written ??= sessionId;
    } else {
      throw new DomainError('INVALID_STATE', 'monitor_session watches Slack, which this service is not connected to.');
    }
  }
  const sessionId = started ?? written;
  if (sessionId === null) throw new DomainError('INVALID_STATE', 'The automation has nothing to do.');
  return sessionId;
}

type StartSession = Extract<Action, { type: 'start_session' }>;
type MessageSession = Extract<Action, { type: 'message_session' }>;

const promptOf = (prompt: string, { addition }: Acting) => (addition === null ? prompt : `${prompt}\n\n${addition}`);

async function startSession(
  context: Context,
  tx: Transaction,
  acting: Acting,
  { prompt, session }: Pick<StartSession, 'prompt' | 'session'>,
): Promise<string> {
  const { automation, organization } = acting;
  return insertSession(context, tx, organization, {
    input: {
      prompt: promptOf(prompt, acting),
      tags: session?.tags,
      playbookId: session?.playbookId,
      maxAcuLimit: mostAcus(automation, organization),
    },
    automationId: automation.id,
  });
}

// An automation may be older than its organization's limit, which holds then.
function mostAcus({ options }: AutomationRecord, { maxSessionAcuLimit: most }: OrganizationRecord): number | null {
  const asked = options.limits?.maxAcuLimit ?? null;
  return asked === null || most === null || most === 0 ? asked : Math.min(asked, most);
}

async function writeToSession(
  context: Context,
  tx: Transaction,
  acting: Acting,
  { prompt, targetSessionId, autoCreate }: MessageSession,
): Promise<string> {
  if (targetSessionId == null) {
    if (autoCreate) return startSession(context, tx, acting, { prompt, session: null });
    throw new DomainError('INVALID_STATE', 'There is no session that the message could be sent to.');
  }
  await insertMessage(context, tx, {
    sessionId: targetSessionId,
    organizationId: acting.organization.id,
    message: promptOf(prompt, acting),
  });
  return targetSessionId;
}
