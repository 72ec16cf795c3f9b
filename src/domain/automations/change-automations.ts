import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf, requirePermission } from '../../auth/viewer.ts';
import { refuse } from '../../common/errors.ts';
import { changedBy } from '../authors.ts';
import type { Context } from '../context.ts';
import { type CreateOptions, canonicalJson, findReplay } from '../idempotency.ts';
import { useOrganization } from '../identity/organizations/use-organization.ts';
import { newId } from '../ids.ts';
import { parseInput } from '../input.ts';
import { requireVersion, type VersionCondition } from '../versions.ts';
import { resolveActions } from './actions/action-references.ts';
import type { AutomationRecord, AutomationRef } from './model/automations.ts';
import {
  type Action,
  type AutomationInput,
  type AutomationOptions,
  definitionSchema,
  hasWebhook,
  optionNames,
  type RunAs,
  refuseRecurrence,
  type Trigger,
  type TriggerRecurrence,
} from './model/definition.ts';
import {
  insertAutomation,
  lockAutomation,
  readAutomation,
  removeAutomation,
  saveAutomation,
} from './save-automation.ts';
import { planNextOccurrence, requireValidRecurrences, withOccurrencePlan } from './schedule/plan-occurrence.ts';
import { requirePatterns } from './triggers/require-patterns.ts';
import { type NewWebhookSecret, newWebhookSecret } from './triggers/webhook-secrets.ts';

/** A written automation, and the secret of its incoming webhook if the secret is new: it is shown once. */
export interface WrittenAutomation {
  readonly automation: AutomationRecord;
  readonly webhookSecret: string | null;
}

/**
 * Creates an automation. Throws INVALID_INPUT also for a rule that never fires, or more often than every 15 minutes;
 * UNKNOWN_REFERENCE for a playbook or a session that the organization lacks; FORBIDDEN with the permission's name, also
 * without UsePersonalAutomations if it is to run as its creator; ORGANIZATION_NOT_USABLE, LIMIT_EXCEEDED;
 * IDEMPOTENCY_CONFLICT, and NOT_FOUND if the automation that the idempotency key created is gone. Only the first call
 * returns the secret of a webhook.
 */
export async function createAutomation(
  context: Context,
  organizationId: string,
  raw: AutomationInput,
  options: CreateOptions = {},
): Promise<WrittenAutomation> {
  const { id } = await useOrganization(context, organizationId, permissionFor.changeAutomations);
  const input = parseInput(definitionSchema, raw);
  await requirePatterns(context, id, input.triggers);
  const now = context.now();
  await requireValidRecurrences(input.triggers, { start: now, now }, refuseRule);
  const actions = await resolveActions(context, id, input.actions);
  const owner = ownerOf(context.viewer);
  const runAs = input.runAs?.type ?? 'organization';
  const ids = { id: newId(), organizationId: id };
  const webhook = webhookSecretFor(context, input.triggers, {
    ...ids,
    webhookSecretHash: null,
    webhookSecretSealed: null,
  });
  const draft: AutomationRecord = {
    ...ids,
    name: input.name,
    enabled: input.enabled ?? true,
    runAs,
    runAsUserId: runAs === 'creator' ? requireCreator(context, id, owner.userId) : null,
    triggers: input.triggers,
    actions,
    options: changedOptions({}, input),
    schedule: null,
    webhookSecretHash: webhook.hash ?? null,
    webhookSecretSealed: webhook.sealed ?? null,
    nextRunAt: null,
    dueAt: null,
    lastRunAt: null,
    lastErrorAt: null,
    lastErrorMessage: null,
    consecutiveFailures: 0,
    ...owner,
    ...changedBy(context),
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  const automation = { ...draft, ...(await planNextOccurrence(context, draft)).next };
  return context.store.transact(async (tx) => {
    const claim = { scope: id, operation: 'createAutomation', input: raw, resultId: automation.id };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) return { automation: await lockAutomation(tx, id, replay), webhookSecret: null };
    await insertAutomation(context, tx, automation);
    return { automation, webhookSecret: webhook.secret ?? null };
  });
}

const changeSchema = definitionSchema.partial();

/**
 * The changes of an automation: an omitted (or undefined) member does not change. null clears options, and nothing
 * else.
 */
export type AutomationChange = {
  readonly [Name in keyof AutomationInput]?: AutomationInput[Name] | undefined;
};

/**
 * Changes an automation. With other triggers or actions it is no longer a schedule. An existing webhook keeps its
 * secret; a new one gets a new secret. Throws NOT_FOUND, the errors of {@link createAutomation} and of {@link
 * saveAutomation}.
 */
export async function updateAutomation(
  context: Context,
  ref: AutomationRef,
  raw: AutomationChange & VersionCondition,
): Promise<WrittenAutomation> {
  const { id } = await useOrganization(context, ref.organizationId, permissionFor.changeAutomations);
  const { expectedVersion, ...members } = raw;
  const change = parseInput(changeSchema, members);
  await requirePatterns(context, id, change.triggers ?? []);
  const actions = change.actions === undefined ? undefined : await resolveActions(context, id, change.actions);
  // Returns the automation after the change, as far as its current state determines it.
  const combine = (before: AutomationRecord): AutomationRecord => {
    const triggers = change.triggers ?? before.triggers;
    const isOther = canonicalJson(triggers) !== canonicalJson(before.triggers);
    // True if the actions are as they were read, or with the references of their prompts, which a schedule does not
    // store separately.
    const isSame = (wanted: readonly Action[] | undefined) =>
      wanted === undefined || canonicalJson(wanted) === canonicalJson(before.actions);
    const isSchedule = !isOther && (isSame(actions) || isSame(change.actions));
    return {
      ...before,
      name: change.name ?? before.name,
      enabled: change.enabled ?? before.enabled,
      ...changedRunAs(context, before, change.runAs?.type),
      triggers,
      actions: actions ?? before.actions,
      options: changedOptions(before.options, change),
      schedule: isSchedule ? before.schedule : null,
    };
  };
  const find = async () => {
    const before = await readAutomation(context.store, id, ref.automationId);
    const wanted = combine(before);
    // An accepted rule is not refused later because its times have passed.
    const isOther = canonicalJson(wanted.triggers) !== canonicalJson(before.triggers);
    if (isOther)
      await requireValidRecurrences(wanted.triggers, { start: before.createdAt, now: context.now() }, refuseRule);
    return wanted;
  };
  return withOccurrencePlan(context, find, (plan) =>
    context.store.transact(async (tx) => {
      const before = await lockAutomation(tx, id, ref.automationId);
      requireVersion(before, { expectedVersion });
      const wanted = combine(before);
      const webhook = webhookSecretFor(context, wanted.triggers, before);
      const written = {
        ...wanted,
        webhookSecretHash: webhook.hash ?? null,
        webhookSecretSealed: webhook.sealed ?? null,
      };
      const automation = await saveAutomation(context, tx, before, written, plan);
      return { automation, webhookSecret: webhook.secret ?? null };
    }),
  );
}

/** Deletes an automation; sessions that it started stay. Throws NOT_FOUND, FORBIDDEN, ORGANIZATION_NOT_USABLE. */
export async function deleteAutomation(
  context: Context,
  ref: AutomationRef,
  condition?: VersionCondition,
): Promise<AutomationRecord> {
  const { id } = await useOrganization(context, ref.organizationId, permissionFor.changeAutomations);
  return context.store.transact(async (tx) => {
    const before = await lockAutomation(tx, id, ref.automationId);
    requireVersion(before, condition);
    return removeAutomation(context, tx, before);
  });
}

const refuseRule = (problem: string, { path }: TriggerRecurrence) => refuseRecurrence(path, problem);

// An automation that runs as its creator runs in the name of the viewer that requests this, which must be the user that
// created it.
function requireCreator(context: Context, organizationId: string, creatorId: string | null): string {
  const path = ['runAs', 'type'];
  if (ownerOf(context.viewer).userId === null) {
    throw refuse(path, '"type" must be organization: only what a user has made can run as its creator.');
  }
  requirePermission(context.viewer, permissionFor.runAutomationAsCreator, organizationId);
  if (creatorId === null || ownerOf(context.viewer).userId !== creatorId) {
    throw refuse(path, 'Only the creator of an automation can make it run as its creator.', 'FORBIDDEN');
  }
  return creatorId;
}

function changedRunAs(
  context: Context,
  before: AutomationRecord,
  runAs: RunAs | undefined,
): Pick<AutomationRecord, 'runAs' | 'runAsUserId'> {
  if (runAs === undefined || runAs === before.runAs) return { runAs: before.runAs, runAsUserId: before.runAsUserId };
  if (runAs === 'organization') return { runAs, runAsUserId: null };
  return { runAs, runAsUserId: requireCreator(context, before.organizationId, before.userId) };
}

type Options = { readonly [Name in keyof AutomationOptions]?: AutomationOptions[Name] | null | undefined };

// null clears an option as if it had never been set.
function changedOptions(before: AutomationOptions, change: Options): AutomationOptions {
  const after = Object.fromEntries(
    optionNames
      .map((name) => [name, change[name] === undefined ? before[name] : change[name]] as const)
      .filter(([, value]) => value != null),
  );
  return after as AutomationOptions;
}

// Returns the stored form of a webhook's secret: the current one if the automation already has a webhook.
function webhookSecretFor(
  context: Context,
  triggers: readonly Trigger[],
  present: Pick<AutomationRecord, 'id' | 'organizationId' | 'webhookSecretHash' | 'webhookSecretSealed'>,
): Partial<NewWebhookSecret> {
  if (!hasWebhook(triggers)) return {};
  const { webhookSecretHash: hash, webhookSecretSealed: sealed } = present;
  return hash === null ? newWebhookSecret(context, present) : { hash, sealed };
}
