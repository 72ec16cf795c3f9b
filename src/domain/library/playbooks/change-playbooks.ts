import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import { ownerOf } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { toData } from '../../../store/tables.ts';
import { audit } from '../../audit/record-audit.ts';
import { changedBy } from '../../authors.ts';
import type { Context } from '../../context.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
import { type Scope, type ScopePermissions, useScope } from '../../identity/organizations/scope.ts';
import { lockInScope } from '../../identity/organizations/scoped-rows.ts';
import { newId } from '../../ids.ts';
import { maxTitleLength, parseInput, text } from '../../input.ts';
import { changedValues, withNulls } from '../../record-values.ts';
import { schemaProblem } from '../../structured-output-schema.ts';
import { requireVersion, type VersionCondition } from '../../versions.ts';
import { macroSchema, requireFreeMacro } from '../macros.ts';
import { type PlaybookRecord, viewPlaybooks } from './playbooks.ts';

/** Maximum length of the body of a playbook, in characters. */
export const maxPlaybookBodyLength = 100_000;

/** The permissions to change playbooks. */
export const changePlaybooks: ScopePermissions = {
  organization: permissionFor.changePlaybooks,
  enterprise: permissionFor.changeEnterprisePlaybooks,
};

const access = { view: viewPlaybooks, change: changePlaybooks };

/** The values of a playbook in inputs: fields of the model, and members of each API's input. */
export const playbookSchema = z.object({
  title: text('title', { min: 1, max: maxTitleLength }),
  body: text('body', { min: 1, max: maxPlaybookBodyLength }),
  macro: macroSchema.nullish(),
  structuredOutputSchema: z
    .unknown()
    .superRefine((schema, check) => {
      const problem = schema == null ? null : schemaProblem(schema);
      if (problem !== null) check.addIssue({ code: 'custom', message: problem });
    })
    .optional(),
});

/** The input of a playbook. */
export type CreatePlaybookInput = z.input<typeof playbookSchema>;

/**
 * Creates a playbook. Throws the errors of {@link useScope}, INVALID_INPUT, NOT_UNIQUE at `macro`,
 * IDEMPOTENCY_CONFLICT. If the playbook that the idempotency key created has been deleted since, it is returned as it
 * is.
 */
export async function createPlaybook(
  context: Context,
  scope: Scope,
  raw: CreatePlaybookInput,
  options: CreateOptions = {},
): Promise<PlaybookRecord> {
  const authorizedScope = await useScope(context, scope, changePlaybooks);
  const input = parseInput(playbookSchema, raw);
  const now = context.now();
  const playbook: PlaybookRecord = {
    id: newId(),
    ...authorizedScope,
    ...withNulls(playbookSchema, input),
    ...ownerOf(context.viewer),
    ...changedBy(context),
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  return context.store.transact(async (tx) => {
    const { id, macro } = playbook;
    const claim = {
      scope: authorizedScope.organizationId ?? authorizedScope.enterpriseId,
      operation: 'createPlaybook',
      input: raw,
    };
    const replay = await findReplay(context, tx, options, { ...claim, resultId: id });
    if (replay !== null) return readPlaybook(tx, replay);
    if (macro !== null) await requireFreeMacro(tx, 'playbook', authorizedScope, { id, macro });
    await tx.prisma.playbook.create({ data: toData('Playbook', playbook) });
    await auditPlaybook(context, tx, 'create_playbook', playbook);
    return playbook;
  });
}

async function readPlaybook(tx: Transaction, id: string): Promise<PlaybookRecord> {
  const playbook = await tx.prisma.playbook.findUnique({ where: { id } });
  if (!playbook) throw notFound('playbook');
  return playbook;
}

const changeSchema = playbookSchema.partial();

/**
 * The changes of a playbook: an omitted (or undefined) member does not change. null clears `macro` and
 * `structuredOutputSchema`, and nothing else.
 */
export type PlaybookChange = { readonly [Name in keyof CreatePlaybookInput]?: CreatePlaybookInput[Name] | undefined };

/**
 * Changes the playbook of an id in any form; writes nothing if nothing changes. An organization's needs
 * ManageOrgPlaybooks there or ManageAccountPlaybooks, the enterprise's the latter. Without a scope: any scope in which
 * the viewer can see it. Throws NOT_FOUND, also for a deleted one, CONFLICT, and the errors of {@link createPlaybook}.
 */
export async function updatePlaybook(
  context: Context,
  id: string,
  raw: PlaybookChange & VersionCondition,
  scope?: Scope,
): Promise<PlaybookRecord> {
  const authorizedScope = scope === undefined ? null : await useScope(context, scope, changePlaybooks);
  const change = parseInput(changeSchema, raw);
  return context.store.transact(async (tx) => {
    const before = await lockInScope(context, tx, 'playbook', id, authorizedScope, access);
    requireVersion(before, raw);
    const changed = changedValues(before, change);
    const names = Object.keys(changed);
    if (names.length === 0) return before;
    if (changed.macro != null) await requireFreeMacro(tx, 'playbook', before, { id: before.id, macro: changed.macro });
    const after = await savePlaybook(tx, before, { ...changed, ...changedBy(context, before) });
    await auditPlaybook(context, tx, 'update_playbook', after, { changed: names.join(' ') });
    return after;
  });
}

/**
 * Marks the playbook of an id in any form as deleted and returns it: its macro is free, sessions can no longer be
 * started with it, and existing sessions still show it. Needs and errors as {@link updatePlaybook}.
 */
export async function deletePlaybook(
  context: Context,
  id: string,
  scope?: Scope,
  condition?: VersionCondition,
): Promise<PlaybookRecord> {
  const authorizedScope = scope === undefined ? null : await useScope(context, scope, changePlaybooks);
  return context.store.transact(async (tx) => {
    const before = await lockInScope(context, tx, 'playbook', id, authorizedScope, access);
    requireVersion(before, condition);
    const by = changedBy(context, before);
    const after = await savePlaybook(tx, before, { ...by, deletedAt: by.updatedAt });
    await auditPlaybook(context, tx, 'delete_playbook', after);
    return after;
  });
}

async function savePlaybook(
  tx: Transaction,
  before: PlaybookRecord,
  change: Partial<PlaybookRecord>,
): Promise<PlaybookRecord> {
  await tx.prisma.playbook.update({ where: { id: before.id }, data: toData('Playbook', change), select: { id: true } });
  return { ...before, ...change };
}

function auditPlaybook(
  context: Context,
  tx: Transaction,
  action: 'create_playbook' | 'update_playbook' | 'delete_playbook',
  playbook: PlaybookRecord,
  more: Record<string, string> = {},
): Promise<void> {
  const { id: targetId, organizationId, title } = playbook;
  return audit(context, tx, action, { organizationId, targetId, data: { title, ...more } });
}
