import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf, requirePermission } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { type CreateOptions, canonicalJson, findReplay } from '../idempotency.ts';
import { newId } from '../ids.ts';
import { parseInput } from '../input.ts';
import { useOrganization } from '../organizations/use-organization.ts';
import { resolveActions } from './action-references.ts';
import type { AutomationPlace, AutomationRecord } from './automations.ts';
import {
  type Action,
  type AutomationInput,
  type AutomationOptions,
  definitionSchema,
  hasWebhook,
  optionNames,
  type RunAs,
  recurrencesOf,
  refuseRecurrence,
  type Trigger,
} from './definition.ts';
import { nextTime } from './due-times.ts';
import { changedBy, insertAutomation, lockAutomation, removeAutomation, saveAutomation } from './save-automation.ts';
import { type NewWebhookSecret, newWebhookSecret } from './webhook-secrets.ts';
import { parseZonedRecurrence, zonedRecurrenceComplaint } from './zoned-recurrence.ts';

/** An automation that was written, and the secret of its incoming webhook where that was made just now: it is shown once. */
export interface WrittenAutomation {
  readonly automation: AutomationRecord;
  readonly webhookSecret: string | null;
}

/**
 * Makes an automation. INVALID_INPUT also for a rule that never fires, or more often than every 15 minutes; UNKNOWN_REFERENCE
 * for a playbook or a session that the organization has not; FORBIDDEN, naming the permission, also where it is to run as its
 * creator without UsePersonalAutomations; ORGANIZATION_NOT_USABLE, LIMIT_EXCEEDED; IDEMPOTENCY_CONFLICT, and NOT_FOUND for
 * one that its key had made and that is gone. The first call alone gives the secret of a webhook.
 */
export async function createAutomation(
  context: Context,
  organizationId: string,
  raw: AutomationInput,
  options: CreateOptions = {},
): Promise<WrittenAutomation> {
  const { id } = await useOrganization(context, organizationId, permissionFor.changeAutomations);
  const input = parseInput(definitionSchema, raw);
  const now = context.now();
  requireFiring(input.triggers, now, now);
  const actions = await resolveActions(context, id, input.actions);
  const owner = ownerOf(context.viewer);
  const runAs = input.runAs?.type ?? 'organization';
  const webhook = webhookSecretFor(input.triggers, null);
  const made: AutomationRecord = {
    id: newId(),
    organizationId: id,
    name: input.name,
    enabled: input.enabled ?? true,
    runAs,
    runAsUserId: runAs === 'creator' ? requireCreator(context, id, owner.userId) : null,
    triggers: input.triggers,
    actions,
    options: changedOptions({}, input),
    schedule: null,
    webhookSecretHash: webhook.hash ?? null,
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
  const automation = { ...made, ...nextTime(made, now) };
  return context.store.transact(async (tx) => {
    const claim = { scope: id, operation: 'createAutomation', input: raw, resultId: automation.id };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) return { automation: await lockAutomation(tx, id, replay), webhookSecret: null };
    await insertAutomation(context, tx, automation);
    return { automation, webhookSecret: webhook.secret ?? null };
  });
}

const changeSchema = definitionSchema.partial();

/** What changes: what is left out (or undefined) stays. null clears options, and nothing else. */
export type AutomationChange = {
  readonly [Name in keyof AutomationInput]?: AutomationInput[Name] | undefined;
};

/**
 * Changes an automation. Other triggers or actions end its being a schedule. A webhook that it had keeps its secret; one that
 * comes gets a new one. NOT_FOUND, the errors of {@link createAutomation} and of {@link saveAutomation}.
 */
export async function updateAutomation(
  context: Context,
  place: AutomationPlace,
  raw: AutomationChange,
): Promise<WrittenAutomation> {
  const { id } = await useOrganization(context, place.organizationId, permissionFor.changeAutomations);
  const change = parseInput(changeSchema, raw);
  const actions = change.actions === undefined ? undefined : await resolveActions(context, id, change.actions);
  return context.store.transact(async (tx) => {
    const before = await lockAutomation(tx, id, place.automationId);
    const triggers = change.triggers ?? before.triggers;
    // What has been taken once is not refused because its times are over.
    const isOther = canonicalJson(triggers) !== canonicalJson(before.triggers);
    if (isOther) requireFiring(triggers, before.createdAt, context.now());
    const webhook = webhookSecretFor(triggers, before.webhookSecretHash);
    // As they were read, or with what their prompts name, which a schedule does not keep beside them.
    const isSame = (wanted: readonly Action[] | undefined) =>
      wanted === undefined || canonicalJson(wanted) === canonicalJson(before.actions);
    const isSchedule = !isOther && (isSame(actions) || isSame(change.actions));
    const wanted: AutomationRecord = {
      ...before,
      name: change.name ?? before.name,
      enabled: change.enabled ?? before.enabled,
      ...changedRunAs(context, before, change.runAs?.type),
      triggers,
      actions: actions ?? before.actions,
      options: changedOptions(before.options, change),
      schedule: isSchedule ? before.schedule : null,
      webhookSecretHash: webhook.hash ?? null,
    };
    const automation = await saveAutomation(context, tx, before, wanted);
    return { automation, webhookSecret: webhook.secret ?? null };
  });
}

/** Deletes an automation; sessions that it started stay. NOT_FOUND, FORBIDDEN, ORGANIZATION_NOT_USABLE. */
export async function deleteAutomation(context: Context, place: AutomationPlace): Promise<AutomationRecord> {
  const { id } = await useOrganization(context, place.organizationId, permissionFor.changeAutomations);
  return context.store.transact(async (tx) =>
    removeAutomation(context, tx, await lockAutomation(tx, id, place.automationId)),
  );
}

function requireFiring(triggers: readonly Trigger[], start: Date, now: Date): void {
  for (const { text, timeZone, path } of recurrencesOf(triggers)) {
    const { zoned, complaint } = parseZonedRecurrence(text, start, timeZone);
    const said = zoned === null ? complaint : zonedRecurrenceComplaint(zoned, now);
    if (said !== null) throw refuseRecurrence(path, said);
  }
}

// What runs as its creator does so in the name of whoever says so: of a user, who must be the one that made it.
function requireCreator(context: Context, organizationId: string, creatorId: string | null): string {
  const path = ['runAs', 'type'];
  if (ownerOf(context.viewer).userId === null) {
    throw refuse(path, '"type" must be organization: only what a user has made can run as its creator.');
  }
  requirePermission(context.viewer, permissionFor.runAutomationAsCreator, organizationId);
  if (creatorId === null || ownerOf(context.viewer).userId !== creatorId) {
    throw refuse(path, 'Only its creator can let an automation run as the creator.', 'FORBIDDEN');
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

// null clears an option, as if it had never been given.
function changedOptions(before: AutomationOptions, change: Options): AutomationOptions {
  const after = Object.fromEntries(
    optionNames
      .map((name) => [name, change[name] === undefined ? before[name] : change[name]] as const)
      .filter(([, value]) => value != null),
  );
  return after as AutomationOptions;
}

// A webhook's callers prove with the secret that they may call; only its hash is kept.
function webhookSecretFor(triggers: readonly Trigger[], present: string | null): Partial<NewWebhookSecret> {
  if (!hasWebhook(triggers)) return {};
  return present === null ? newWebhookSecret() : { hash: present };
}
