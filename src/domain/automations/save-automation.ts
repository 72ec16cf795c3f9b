import { requireConfirmation } from '../../auth/confirmation.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf, requirePermission } from '../../auth/viewer.ts';
import { notFound, refuse } from '../../common/errors.ts';
import type { Store, Transaction } from '../../store/store.ts';
import { toData } from '../../store/tables.ts';
import { audit } from '../audit/record-audit.ts';
import { changedBy } from '../authors.ts';
import type { Context } from '../context.ts';
import { canonicalJson } from '../idempotency.ts';
import { parseId } from '../ids.ts';
import { changedValues } from '../record-values.ts';
import { requireChangePermissions } from './actions/require-permissions.ts';
import { type AutomationRecord, automationColumns, automationSelection, toAutomation } from './model/automations.ts';
import { recurringEvent } from './model/event-types.ts';
import { skipQueuedRuns } from './runs/skip-queued-runs.ts';
import { type OccurrencePlan, plannedOccurrence } from './schedule/plan-occurrence.ts';
import { followEvents } from './triggers/follow-events.ts';

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
  const { organizationId } = automation;
  if ((await tx.prisma.automation.count({ where: { organizationId, deletedAt: null } })) >= maxAutomations) {
    throw refuse(['name'], `An organization has at most ${maxAutomations} automations.`, 'LIMIT_EXCEEDED');
  }
  const { enabled: isEnabled, ...fields } = automation;
  await tx.prisma.automation.create({ data: toData('Automation', { ...fields, isEnabled }), select: { id: true } });
  await followEvents(context, tx, automation, null);
  await auditAutomation(context, tx, 'create_automation', automation);
  tx.afterCommit(() => context.notifier.notify('automations'));
}

/**
 * Locks the automation of an id in any form until the transaction ends. Throws NOT_FOUND, also for a deleted one, and
 * for one that is not a schedule if a schedule is required.
 */
export async function lockAutomation(
  tx: Transaction,
  organizationId: string,
  automationId: string,
  kind: 'automation' | 'schedule' = 'automation',
): Promise<AutomationRecord> {
  const [automation] = await tx.query<AutomationRecord>(
    `select ${automationColumns} from automation a where a.id = $1 and a.organization_id = $2 and a.deleted_at is null for update of a`,
    [parseId('automation', automationId), organizationId],
  );
  return requireKind(automation, kind);
}

/** {@link lockAutomation} outside a transaction, without the lock. */
export async function readAutomation(
  { prisma }: Store,
  organizationId: string,
  automationId: string,
  kind: 'automation' | 'schedule' = 'automation',
): Promise<AutomationRecord> {
  const bare = parseId('automation', automationId);
  const where = { id: bare ?? '', organizationId, deletedAt: null };
  const row = bare && (await prisma.automation.findFirst({ where, select: automationSelection }));
  return requireKind(row ? toAutomation(row) : undefined, kind);
}

function requireKind(automation: AutomationRecord | undefined, kind: 'automation' | 'schedule'): AutomationRecord {
  if (!automation || (kind === 'schedule' && automation.schedule === null)) throw notFound(kind);
  return automation;
}

/** Writes changed members of an automation that the transaction has locked. */
export async function writeAutomation(tx: Transaction, id: string, change: Partial<AutomationRecord>): Promise<void> {
  const { enabled: isEnabled, ...fields } = change;
  const data = toData('Automation', { ...fields, ...(isEnabled !== undefined && { isEnabled }) });
  await tx.prisma.automation.update({ where: { id }, data, select: { id: true } });
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
    throw refuse(['enabled'], '"enabled" must stay false: all times of its triggers are in the past.');
  }
  await writeAutomation(tx, after.id, changedValues(before, after));
  if (before.enabled && !after.enabled) await skipQueuedRuns(tx, after.id);
  if (isMoved) await followEvents(context, tx, after, before);
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
  const none = { nextRunAt: null, dueAt: null, webhookSecretHash: null, webhookSecretSealed: null };
  const data = {
    ...by,
    ...none,
    deletedAt: by.updatedAt,
    isEnabled: false,
    sessionEventsSinceAt: null,
    forgeEventsSinceAt: null,
  };
  await tx.prisma.automation.update({ where: { id: before.id }, data, select: { id: true } });
  await skipQueuedRuns(tx, before.id);
  await auditAutomation(context, tx, 'delete_automation', before);
  return { ...before, ...by, deletedAt: by.updatedAt };
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
