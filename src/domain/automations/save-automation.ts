import { requireConfirmation } from '../../auth/confirmation.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf, requirePermission } from '../../auth/viewer.ts';
import { notFound, refuse } from '../../common/errors.ts';
import type { Store, Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import { changedBy, editorValues, setEditor } from '../authors.ts';
import type { Context } from '../context.ts';
import { canonicalJson } from '../idempotency.ts';
import { parseId } from '../ids.ts';
import { requireChangePermissions } from './actions/require-permissions.ts';
import { type AutomationRecord, automationColumns } from './model/automations.ts';
import { recurringEvent } from './model/event-types.ts';
import { skipQueuedRuns } from './runs/skip-queued-runs.ts';
import { type OccurrencePlan, plannedOccurrence } from './schedule/plan-occurrence.ts';
import { followSessions } from './triggers/follow-sessions.ts';

/** Maximum number of automations of an organization. */
export const maxAutomations = 20_000;

/**
 * Writes a new automation and its audit entry. Throws LIMIT_EXCEEDED beyond {@link maxAutomations}; FORBIDDEN unless
 * the caller may execute its actions; CONFIRMATION_REQUIRED in the console, since it runs after the sign-in has ended.
 */
export async function insertAutomation(context: Context, tx: Transaction, automation: AutomationRecord): Promise<void> {
  requireChangePermissions(context.viewer, automation);
  requireConfirmation(context);
  // Serializes the creations of an organization, since two at once would both pass the count. The lock does not block
  // foreign keys.
  const [organization] = await tx.query(
    'select id from organization where id = $1 and deleted_at is null for no key update',
    [automation.organizationId],
  );
  if (!organization) throw notFound('organization');
  const [all] = await tx.query<{ count: number }>(
    'select count(*)::int as count from automation where organization_id = $1 and deleted_at is null',
    [automation.organizationId],
  );
  if ((all?.count ?? 0) >= maxAutomations) {
    throw refuse(['name'], `An organization has at most ${maxAutomations} automations.`, 'LIMIT_EXCEEDED');
  }
  await tx.query(
    `insert into automation (id, ${changeColumns}, organization_id, user_id, service_user_id, service_key_id, created_at)
     values ($1, ${changeParameters}, $19, $20, $21, $22, $23::timestamptz)`,
    [automation.id, ...valuesOf(automation), automation.organizationId, ...authorOf(automation), automation.createdAt],
  );
  await followSessions(context, tx, automation, null);
  await auditAutomation(context, tx, 'create_automation', automation);
  tx.afterCommit(() => context.notifier.notify('automations'));
}

/**
 * Locks the automation of an id in any form until the transaction ends. Throws NOT_FOUND, also for a deleted one, and
 * for one that is not a schedule if a schedule is required.
 */
export function lockAutomation(
  tx: Transaction,
  organizationId: string,
  automationId: string,
  kind: 'automation' | 'schedule' = 'automation',
): Promise<AutomationRecord> {
  return readAutomation(tx, organizationId, automationId, kind, 'for update of a');
}

/** {@link lockAutomation} without the lock. */
export async function readAutomation(
  reader: Pick<Store, 'query'>,
  organizationId: string,
  automationId: string,
  kind: 'automation' | 'schedule' = 'automation',
  lock: '' | 'for update of a' = '',
): Promise<AutomationRecord> {
  const [automation] = await reader.query<AutomationRecord>(
    `select ${automationColumns} from automation a where a.id = $1 and a.organization_id = $2 and a.deleted_at is null ${lock}`,
    [parseId('automation', automationId), organizationId],
  );
  if (!automation || (kind === 'schedule' && automation.schedule === null)) throw notFound(kind);
  return automation;
}

/** The fields that callers change. The others are derived, or written by the engine. */
const editableFields = [
  'name',
  'enabled',
  'runAs',
  'runAsUserId',
  'triggers',
  'actions',
  'options',
  'schedule',
] as const;

/** The fields that determine the actions and the user in whose name they run. */
const behaviorFields: ReadonlySet<string> = new Set(['runAsUserId', 'triggers', 'actions', 'options']);

/**
 * Writes the changed fields, or nothing if none has changed. A caller that changes the actions, or enables the
 * automation, needs the permissions to execute them, and to act as its user if it runs as another user: FORBIDDEN. The
 * same changes need confirmation in the console: CONFIRMATION_REQUIRED. Enabling resets its failures; throws
 * INVALID_INPUT at `enabled` if it would never run. `plan`: from {@link withOccurrencePlan}.
 */
export async function saveAutomation(
  context: Context,
  tx: Transaction,
  before: AutomationRecord,
  wanted: AutomationRecord,
  plan: OccurrencePlan,
): Promise<AutomationRecord> {
  const changed = editableFields.filter((name) => canonicalJson(wanted[name]) !== canonicalJson(before[name]));
  if (changed.length === 0) return before;
  const isSwitchedOn = wanted.enabled && !before.enabled;
  const { userId } = ownerOf(context.viewer);
  const isAnothers = before.runAsUserId !== null && before.runAsUserId !== userId && wanted.runAsUserId !== null;
  if (isSwitchedOn || changed.some((name) => behaviorFields.has(name))) {
    requireChangePermissions(context.viewer, wanted);
    if (isAnothers) requirePermission(context.viewer, permissionFor.runAutomationAsUser, before.organizationId);
    requireConfirmation(context);
  }
  const isMoved = changed.includes('enabled') || changed.includes('triggers');
  const after: AutomationRecord = {
    ...wanted,
    ...changedBy(context, before),
    ...(isMoved ? plannedOccurrence(plan, wanted) : { nextRunAt: before.nextRunAt, dueAt: before.dueAt }),
    consecutiveFailures: isSwitchedOn ? 0 : before.consecutiveFailures,
  };
  const isOver = after.triggers.length > 0 && after.triggers.every(({ eventType }) => eventType === recurringEvent);
  if (isSwitchedOn && isOver && after.nextRunAt === null) {
    throw refuse(['enabled'], '"enabled" must stay false: the times of its triggers are all over.');
  }
  await tx.query(
    `update automation set (${changeColumns}) = row(${changeParameters}), version = version + 1 where id = $1`,
    [after.id, ...valuesOf(after)],
  );
  if (before.enabled && !after.enabled) await skipQueuedRuns(tx, after.id);
  if (isMoved) await followSessions(context, tx, after, before);
  await auditAutomation(context, tx, 'update_automation', after, { changed: changed.join(' ') });
  tx.afterCommit(() => context.notifier.notify('automations'));
  return after;
}

/** Marks an automation as deleted and returns it: it never runs again, and its webhook is gone. */
export async function removeAutomation(
  context: Context,
  tx: Transaction,
  before: AutomationRecord,
): Promise<AutomationRecord> {
  const by = changedBy(context, before);
  await tx.query(
    `update automation set deleted_at = $5::timestamptz, ${setEditor(2)}, is_enabled = false, next_run_at = null, due_at = null,
            webhook_secret_hash = null, webhook_secret_sealed = null, session_events_since_at = null where id = $1`,
    [before.id, ...editorValues(by)],
  );
  await skipQueuedRuns(tx, before.id);
  await auditAutomation(context, tx, 'delete_automation', before);
  return { ...before, ...by, deletedAt: by.updatedAt };
}

const authorOf = ({ userId, serviceUserId, serviceKeyId }: AutomationRecord) => [userId, serviceUserId, serviceKeyId];

// The columns of a change, with their parameters from $2 on. The engine writes the time and the result of the last run.
const changeColumns = `name, is_enabled, run_as, run_as_user_id, triggers, actions, options, schedule, webhook_secret_hash, next_run_at,
  consecutive_failures, updated_by_user_id, updated_by_service_user_id, updated_at, due_at, webhook_secret_sealed,
  updated_by_service_key_id`;
const changeParameters = `$2::text, $3::boolean, $4::text, $5::text, $6::jsonb, $7::jsonb, $8::jsonb, $9::jsonb, $10::text, $11::timestamptz,
  $12::int, $13::text, $14::text, $15::timestamptz, $16::timestamptz, $17::text, $18::text`;

function valuesOf(automation: AutomationRecord): unknown[] {
  return [
    automation.name,
    automation.enabled,
    automation.runAs,
    automation.runAsUserId,
    JSON.stringify(automation.triggers),
    JSON.stringify(automation.actions),
    JSON.stringify(automation.options),
    automation.schedule === null ? null : JSON.stringify(automation.schedule),
    automation.webhookSecretHash,
    automation.nextRunAt,
    automation.consecutiveFailures,
    automation.updatedByUserId,
    automation.updatedByServiceUserId,
    automation.updatedAt,
    automation.dueAt,
    automation.webhookSecretSealed,
    automation.updatedByServiceKeyId,
  ];
}

function auditAutomation(
  context: Context,
  tx: Transaction,
  action: 'create_automation' | 'update_automation' | 'delete_automation',
  { id: targetId, organizationId, name }: AutomationRecord,
  more: Record<string, string> = {},
): Promise<void> {
  return audit(context, tx, action, { organizationId, targetId, data: { name, ...more } });
}
