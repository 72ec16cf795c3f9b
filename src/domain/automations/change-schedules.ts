import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf } from '../../auth/viewer.ts';
import { DomainError, refuse } from '../../common/errors.ts';
import { changedBy } from '../authors.ts';
import type { Context } from '../context.ts';
import { useOrganization } from '../identity/organizations/use-organization.ts';
import { newId } from '../ids.ts';
import { parseInput } from '../input.ts';
import { chooseOwner } from '../sessions/as-user.ts';
import { findPlaybook, findTarget } from './actions/action-references.ts';
import { resolvePrompt } from './actions/prompt-references.ts';
import type { AutomationRecord, AutomationRef } from './model/automations.ts';
import {
  insertAutomation,
  lockAutomation,
  readAutomation,
  removeAutomation,
  saveAutomation,
} from './save-automation.ts';
import { planNextOccurrence, withOccurrencePlan } from './schedule/plan-occurrence.ts';
import {
  combineSchedule,
  defaultSchedule,
  type ParsedSchedule,
  requireFrequency,
  type ScheduleInput,
  scheduleSchema,
  triggersAndActionsOf,
} from './schedule/schedule-input.ts';
import { getSchedule, noSuchSchedule } from './schedule/schedules.ts';

/** The time from which an organization with automations can create no more schedules (docs/wire/v3.md#schedules). */
const schedulesEndAt = Date.UTC(2026, 8, 24);

const targetPath = ['targetSessionId'];

/**
 * Creates a schedule: an automation that is also listed as a schedule. Throws FORBIDDEN, with the reason, if the
 * organization uses automations instead; INVALID_INPUT for a frequency that is not a cron expression or fires too
 * often, a time in the past, and fields that exclude each other; UNKNOWN_REFERENCE, ORGANIZATION_NOT_USABLE,
 * LIMIT_EXCEEDED.
 */
export async function createSchedule(
  context: Context,
  organizationId: string,
  raw: ScheduleInput & { readonly name: string; readonly prompt: string },
): Promise<AutomationRecord> {
  const { id } = await useOrganization(context, organizationId, permissionFor.manageSchedules);
  await requireSchedules(context, id);
  const input = parseInput(scheduleSchema, raw);
  const now = context.now();
  const schedule = combineSchedule(defaultSchedule, await resolveReferences(context, id, input), now);
  const runAsUserId = await chooseUser(context, id, input.runAsUserId ?? null, 'createAsUserId');
  const draft: AutomationRecord = {
    id: newId(),
    organizationId: id,
    name: raw.name,
    enabled: true,
    runAs: runAsUserId === null ? 'organization' : 'creator',
    runAsUserId,
    ...triggersAndActionsOf(schedule, now),
    options: {},
    schedule,
    webhookSecretHash: null,
    webhookSecretSealed: null,
    nextRunAt: null,
    dueAt: null,
    lastRunAt: null,
    lastErrorAt: null,
    lastErrorMessage: null,
    consecutiveFailures: 0,
    ...ownerOf(context.viewer),
    ...changedBy(context),
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  await requireFrequency(draft.triggers, now, now);
  const automation = { ...draft, ...(await planNextOccurrence(context, draft)).next };
  await context.store.transact((tx) => insertAutomation(context, tx, automation));
  return automation;
}

/** Changes a schedule. Throws NOT_FOUND, the errors of {@link createSchedule} and of {@link saveAutomation}. */
export async function updateSchedule(
  context: Context,
  ref: AutomationRef,
  raw: ScheduleInput,
): Promise<AutomationRecord> {
  const { id } = await useOrganization(context, ref.organizationId, permissionFor.manageSchedules);
  const input = parseInput(scheduleSchema, raw);
  const resolved = await resolveReferences(context, id, input);
  const user =
    input.runAsUserId === undefined ? undefined : await chooseUser(context, id, input.runAsUserId, 'runAsUserId');
  const isOtherMessage = input.prompt !== undefined && input.targetSessionId === undefined;
  const target = isOtherMessage ? (await getSchedule(context, ref)).schedule.targetSessionId : null;
  // A new prompt is a new message: a caller that may not write to the target session may not change the prompt.
  if (target !== null) await findTarget(context, id, target, targetPath);
  const isMoved = (['scheduleType', 'frequency', 'intervalCount', 'scheduledAt'] as const).some(
    (name) => input[name] !== undefined,
  );
  // Returns the schedule after the change, as far as its current state determines it.
  const combine = (before: AutomationRecord): AutomationRecord => {
    if (before.schedule === null) throw noSuchSchedule();
    const schedule = combineSchedule(before.schedule, resolved, context.now());
    if (isOtherMessage && schedule.targetSessionId !== null && schedule.targetSessionId !== target) {
      throw refuse(targetPath, '"targetSessionId" was changed by another request at the same time. Try again.');
    }
    const runAsUserId = user === undefined ? before.runAsUserId : user;
    return {
      ...before,
      name: input.name ?? before.name,
      enabled: input.enabled ?? before.enabled,
      runAs: runAsUserId === null ? 'organization' : 'creator',
      runAsUserId,
      ...triggersAndActionsOf(schedule, before.createdAt),
      schedule,
    };
  };
  const find = async () => {
    const wanted = combine(await readAutomation(context.store, id, ref.automationId, 'schedule'));
    if (isMoved) await requireFrequency(wanted.triggers, wanted.createdAt, context.now());
    return wanted;
  };
  return withOccurrencePlan(context, find, (plan) =>
    context.store.transact(async (tx) => {
      const before = await lockAutomation(tx, id, ref.automationId, 'schedule');
      return saveAutomation(context, tx, before, combine(before), plan);
    }),
  );
}

/** Deletes a schedule, whose row stays, and returns it. Throws NOT_FOUND, FORBIDDEN, ORGANIZATION_NOT_USABLE. */
export async function deleteSchedule(context: Context, ref: AutomationRef): Promise<AutomationRecord> {
  const { id } = await useOrganization(context, ref.organizationId, permissionFor.manageSchedules);
  return context.store.transact(async (tx) => {
    return removeAutomation(context, tx, await lockAutomation(tx, id, ref.automationId, 'schedule'));
  });
}

async function requireSchedules(context: Context, organizationId: string): Promise<void> {
  if (context.now().getTime() < schedulesEndAt) return;
  const organization = await context.store.prisma.organization.findFirst({
    where: { id: organizationId },
    select: { hasAutomations: true },
  });
  if (organization?.hasAutomations === false) return;
  const message = 'This organization has used automations since 24 September 2026. It can no longer create schedules.';
  throw new DomainError('FORBIDDEN', message);
}

async function chooseUser(
  context: Context,
  organizationId: string,
  userId: string | null,
  argument: 'createAsUserId' | 'runAsUserId',
): Promise<string | null> {
  if (userId === null) return null;
  const permission = permissionFor.runAutomationAsUser;
  return (await chooseOwner(context, organizationId, { userId, argument, permission })).userId;
}

async function resolveReferences(
  context: Context,
  organizationId: string,
  input: ParsedSchedule,
): Promise<ParsedSchedule> {
  const { playbookId, targetSessionId, prompt } = input;
  const scope = { organizationId, enterpriseId: context.viewer.enterpriseId };
  if (prompt !== undefined) await resolvePrompt(context.store, scope, prompt, ['prompt']);
  return {
    ...input,
    ...(playbookId != null
      ? { playbookId: await findPlaybook(context, organizationId, playbookId, ['playbookId']) }
      : {}),
    ...(targetSessionId != null
      ? { targetSessionId: await findTarget(context, organizationId, targetSessionId, targetPath) }
      : {}),
  };
}
