import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import { ownerOf } from '../../../auth/viewer.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import { changedBy, editorValues, setEditor } from '../../authors.ts';
import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { type CreateOptions, canonicalJson, findReplay } from '../../idempotency.ts';
import {
  type AuthorizedScope,
  matchesScopeFilter,
  requireAnyScopePermission,
  requireScopePermission,
  type Scope,
  type ScopePermissions,
  scopeFilterOf,
  scopeFilterValues,
  useScope,
} from '../../identity/organizations/scope.ts';
import { newId, parseId } from '../../ids.ts';
import { maxTitleLength, parseInput, text } from '../../input.ts';
import { schemaProblem } from '../../structured-output-schema.ts';
import { requireVersion, type VersionCondition } from '../../versions.ts';
import { macroSchema, requireFreeMacro } from '../macros.ts';
import { type PlaybookRecord, playbookColumns, viewPlaybooks } from './playbooks.ts';

/** The longest body of a playbook, in characters. */
export const maxPlaybookBodyLength = 100_000;

/** What changing playbooks needs. */
export const changePlaybooks: ScopePermissions = {
  organization: permissionFor.changePlaybooks,
  enterprise: permissionFor.changeEnterprisePlaybooks,
};

/** The values of a playbook, as inputs give them. */
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

/** What a playbook is made from. */
export type CreatePlaybookInput = z.input<typeof playbookSchema>;

/**
 * Makes a playbook. Errors: those of {@link useScope}, INVALID_INPUT, NOT_UNIQUE at `macro`, IDEMPOTENCY_CONFLICT. One that its
 * key had made and that has been deleted since comes back as it is.
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
  const owner = ownerOf(context.viewer);
  const playbook: PlaybookRecord = {
    id: newId(),
    ...authorizedScope,
    title: input.title,
    body: input.body,
    macro: input.macro ?? null,
    structuredOutputSchema: (input.structuredOutputSchema as object | null | undefined) ?? null,
    ...owner,
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
    await tx.query(
      `insert into playbook (id, enterprise_id, organization_id, title, body, macro, structured_output_schema, user_id,
         service_user_id, service_key_id, updated_by_user_id, updated_by_service_user_id, updated_by_service_key_id, created_at,
         updated_at)
       values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10, $8, $9, $10, $11::timestamptz, $11::timestamptz)`,
      [
        id,
        authorizedScope.enterpriseId,
        authorizedScope.organizationId,
        playbook.title,
        playbook.body,
        macro,
        jsonText(playbook.structuredOutputSchema),
        owner.userId,
        owner.serviceUserId,
        owner.serviceKeyId,
        now,
      ],
    );
    await auditPlaybook(context, tx, 'create_playbook', playbook);
    return playbook;
  });
}

async function readPlaybook(tx: Transaction, id: string): Promise<PlaybookRecord> {
  const [playbook] = await tx.query<PlaybookRecord>(`select ${playbookColumns} from playbook p where p.id = $1`, [id]);
  if (!playbook) throw notFound('playbook');
  return playbook;
}

const changeSchema = playbookSchema.partial();

/** What changes: what is left out (or undefined) stays. null clears `macro` and `structuredOutputSchema`, and nothing else. */
export type PlaybookChange = { readonly [Name in keyof CreatePlaybookInput]?: CreatePlaybookInput[Name] | undefined };

/**
 * Changes the playbook of an id in any form; nothing is written when nothing would change. An organization's needs
 * ManageOrgPlaybooks there or ManageAccountPlaybooks, the enterprise's the latter. Without a place: wherever the viewer can see
 * it. NOT_FOUND, also for a deleted one, CONFLICT, and the errors of {@link createPlaybook}.
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
    const before = await lockPlaybook(context, tx, id, authorizedScope);
    requireVersion(before, raw);
    const schema = change.structuredOutputSchema as object | null | undefined;
    const wanted: PlaybookRecord = {
      ...before,
      title: change.title ?? before.title,
      body: change.body ?? before.body,
      macro: change.macro === undefined ? before.macro : change.macro,
      structuredOutputSchema: schema === undefined ? before.structuredOutputSchema : schema,
    };
    const changed = (Object.keys(wanted) as (keyof PlaybookRecord)[]).filter(
      (name) => canonicalJson(wanted[name]) !== canonicalJson(before[name]),
    );
    if (changed.length === 0) return before;
    if (wanted.macro !== null && changed.includes('macro')) {
      await requireFreeMacro(tx, 'playbook', before, { id: before.id, macro: wanted.macro });
    }
    const by = changedBy(context, before);
    const after = { ...wanted, ...by };
    await tx.query(
      `update playbook set title = $2, body = $3, macro = $4, structured_output_schema = $5::jsonb,
              ${setEditor(6)} where id = $1`,
      [after.id, after.title, after.body, after.macro, jsonText(after.structuredOutputSchema), ...editorValues(by)],
    );
    await auditPlaybook(context, tx, 'update_playbook', after, { changed: changed.join(' ') });
    return after;
  });
}

/**
 * Marks the playbook of an id in any form as deleted and gives what it was: its macro is free, sessions can no longer be started
 * with it, those that were still show it. Needs and errors as {@link updatePlaybook}.
 */
export async function deletePlaybook(
  context: Context,
  id: string,
  scope?: Scope,
  condition?: VersionCondition,
): Promise<PlaybookRecord> {
  const authorizedScope = scope === undefined ? null : await useScope(context, scope, changePlaybooks);
  return context.store.transact(async (tx) => {
    const before = await lockPlaybook(context, tx, id, authorizedScope);
    requireVersion(before, condition);
    const change = changedBy(context, before);
    const after: PlaybookRecord = { ...before, ...change, deletedAt: change.updatedAt };
    await tx.query(`update playbook set deleted_at = $2::timestamptz, ${setEditor(3)} where id = $1`, [
      after.id,
      after.deletedAt,
      ...editorValues(change),
    ]);
    await auditPlaybook(context, tx, 'delete_playbook', after);
    return after;
  });
}

const jsonText = (schema: object | null) => (schema === null ? null : JSON.stringify(schema));

async function lockPlaybook(
  context: Context,
  tx: Transaction,
  id: string,
  scope: AuthorizedScope | null,
): Promise<PlaybookRecord> {
  if (scope === null) requireAnyScopePermission(context.viewer, changePlaybooks);
  const [playbook] = await tx.query<PlaybookRecord>(
    `select ${playbookColumns} from playbook p where p.id = $1 and ${matchesScopeFilter('p')} and p.deleted_at is null for update of p`,
    [
      parseId('playbook', id),
      ...scopeFilterValues(scopeFilterOf(context.viewer, scope, viewPlaybooks, changePlaybooks)),
    ],
  );
  if (!playbook) throw notFound('playbook');
  requireScopePermission(context.viewer, playbook.organizationId, changePlaybooks);
  return playbook;
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
