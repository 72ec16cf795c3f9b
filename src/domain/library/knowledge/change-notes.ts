import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import { ownerOf } from '../../../auth/viewer.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import { changedBy, editorValues, setEditor } from '../../authors.ts';
import type { Context } from '../../context.ts';
import { notFound, refuse } from '../../errors.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
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
import { requireVersion, type VersionCondition } from '../../versions.ts';
import { macroSchema, requireFreeMacro } from '../macros.ts';
import { type NoteRecord, noteColumns, viewNotes } from './notes.ts';

/** Maximum length of the body of a note, in characters. */
export const maxNoteBodyLength = 100_000;

/** The permissions to change notes and folders. */
export const changeNotes: ScopePermissions = {
  organization: permissionFor.changeKnowledge,
  enterprise: permissionFor.changeEnterpriseKnowledge,
};

/** "owner/repo", with groups in between, and with the host (and its port) before it. No segment is "." or "..". */
const repository = /^[A-Za-z0-9_~][\w.~-]*(?::\d{1,5}(?=\/[^/]+\/))?(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/;

const repo = text('pinnedRepo', { max: 300 }).refine((value) => value === 'all' || repository.test(value), {
  error:
    '"pinnedRepo" must be null, "all", or a repository as "owner/repo", "group/subgroup/repo" or "host/owner/repo".',
});

/** The values of a note in inputs. */
export const noteSchema = z.object({
  name: text('name', { min: 1, max: maxTitleLength }),
  body: text('body', { min: 1, max: maxNoteBodyLength }),
  trigger: text('trigger', { min: 1, max: 10_000 }),
  folderId: z.string().nullish(),
  pinnedRepo: repo.nullish(),
  macro: macroSchema.nullish(),
  isEnabled: z.boolean().nullish(),
});

/** The input of a note. `folderId` in any form, of a folder of the same scope; `isEnabled` is true if omitted. */
export type CreateNoteInput = z.input<typeof noteSchema>;

/**
 * Creates a note. Throws the errors of {@link useScope}, INVALID_INPUT, UNKNOWN_REFERENCE at `folderId`, NOT_UNIQUE at
 * `macro`, IDEMPOTENCY_CONFLICT, and NOT_FOUND if the note that the idempotency key created is gone.
 */
export async function createNote(
  context: Context,
  scope: Scope,
  raw: CreateNoteInput,
  options: CreateOptions = {},
): Promise<NoteRecord> {
  const authorizedScope = await useScope(context, scope, changeNotes);
  const input = parseInput(noteSchema, raw);
  const now = context.now();
  const id = newId();
  return context.store.transact(async (tx) => {
    const claim = {
      scope: authorizedScope.organizationId ?? authorizedScope.enterpriseId,
      operation: 'createKnowledgeNote',
      input: raw,
    };
    const replay = await findReplay(context, tx, options, { ...claim, resultId: id });
    if (replay !== null) return readNote(tx, replay);
    const note: NoteRecord = {
      id,
      ...authorizedScope,
      name: input.name,
      body: input.body,
      trigger: input.trigger,
      folderId: await folderFor(tx, authorizedScope, input.folderId ?? null),
      pinnedRepo: input.pinnedRepo ?? null,
      macro: input.macro ?? null,
      isEnabled: input.isEnabled ?? true,
      ...ownerOf(context.viewer),
      ...changedBy(context),
      createdAt: now,
      updatedAt: now,
    };
    if (note.macro !== null) await requireFreeMacro(tx, 'note', authorizedScope, { id: note.id, macro: note.macro });
    await tx.prisma.knowledgeNote.create({ data: note });
    await auditNote(context, tx, 'create_knowledge', note);
    return note;
  });
}

async function readNote(tx: Transaction, id: string): Promise<NoteRecord> {
  const [note] = await tx.query<NoteRecord>(`select ${noteColumns} from knowledge_note n where n.id = $1`, [id]);
  if (!note) throw notFound('note');
  return note;
}

const changeSchema = noteSchema.partial();

/**
 * The changes of a note: an omitted (or undefined) member does not change. null clears `folderId`, `pinnedRepo` and
 * `macro`, and nothing else.
 */
export type NoteChange = { readonly [Name in keyof CreateNoteInput]?: CreateNoteInput[Name] | undefined };

/**
 * Changes the note of an id in any form; writes nothing if nothing changes. An organization's note needs
 * ManageOrgKnowledge there or ManageAccountKnowledge, the enterprise's the latter. Without a scope: any scope in which
 * the viewer can see it. Throws NOT_FOUND, CONFLICT, and the errors of {@link createNote}.
 */
export async function updateNote(
  context: Context,
  id: string,
  raw: NoteChange & VersionCondition,
  scope?: Scope,
): Promise<NoteRecord> {
  const authorizedScope = scope === undefined ? null : await useScope(context, scope, changeNotes);
  const change = parseInput(changeSchema, raw);
  return context.store.transact(async (tx) => {
    const before = await lockNote(context, tx, id, authorizedScope);
    requireVersion(before, raw);
    const { folderId, macro } = change;
    const after: NoteRecord = {
      ...before,
      name: change.name ?? before.name,
      body: change.body ?? before.body,
      trigger: change.trigger ?? before.trigger,
      folderId: folderId === undefined ? before.folderId : await folderFor(tx, before, folderId),
      pinnedRepo: change.pinnedRepo === undefined ? before.pinnedRepo : change.pinnedRepo,
      macro: macro === undefined ? before.macro : macro,
      isEnabled: change.isEnabled ?? before.isEnabled,
    };
    const changed = (Object.keys(after) as (keyof NoteRecord)[]).filter((name) => after[name] !== before[name]);
    if (changed.length === 0) return before;
    if (after.macro !== null && changed.includes('macro')) {
      await requireFreeMacro(tx, 'note', before, { id: before.id, macro: after.macro });
    }
    const by = changedBy(context, before);
    await tx.query(
      `update knowledge_note set name = $2, body = $3, trigger = $4, folder_id = $5, pinned_repo = $6, macro = $7,
              is_enabled = $8::boolean, ${setEditor(9)} where id = $1`,
      [
        after.id,
        after.name,
        after.body,
        after.trigger,
        after.folderId,
        after.pinnedRepo,
        after.macro,
        after.isEnabled,
        ...editorValues(by),
      ],
    );
    await auditNote(context, tx, 'edit_knowledge', after, { changed: changed.join(' ') });
    return { ...after, ...by };
  });
}

/** Deletes the note of an id in any form and returns it. Needs and errors as {@link updateNote}. */
export async function deleteNote(
  context: Context,
  id: string,
  scope?: Scope,
  condition?: VersionCondition,
): Promise<NoteRecord> {
  const authorizedScope = scope === undefined ? null : await useScope(context, scope, changeNotes);
  return context.store.transact(async (tx) => {
    const note = await lockNote(context, tx, id, authorizedScope);
    requireVersion(note, condition);
    await tx.query('delete from knowledge_note where id = $1', [note.id]);
    await auditNote(context, tx, 'delete_knowledge', note);
    return note;
  });
}

async function lockNote(
  context: Context,
  tx: Transaction,
  id: string,
  scope: AuthorizedScope | null,
): Promise<NoteRecord> {
  if (scope === null) requireAnyScopePermission(context.viewer, changeNotes);
  const [note] = await tx.query<NoteRecord>(
    `select ${noteColumns} from knowledge_note n where n.id = $1 and ${matchesScopeFilter('n')} for update of n`,
    [parseId('note', id), ...scopeFilterValues(scopeFilterOf(context.viewer, scope, viewNotes, changeNotes))],
  );
  if (!note) throw notFound('note');
  requireScopePermission(context.viewer, note.organizationId, changeNotes);
  return note;
}

// Locks the folder against deletion, so that no note refers to a deleted one.
async function folderFor(tx: Transaction, scope: AuthorizedScope, folderId: string | null): Promise<string | null> {
  if (folderId === null) return null;
  const [folder] = await tx.query<{ id: string }>(
    `select f.id from knowledge_folder f where f.id = $1 and f.enterprise_id = $2
        and coalesce(f.organization_id, '') = coalesce($3::text, '') for key share of f`,
    [parseId('folder', folderId), scope.enterpriseId, scope.organizationId],
  );
  if (folder) return folder.id;
  const shown = JSON.stringify(folderId.slice(0, 80));
  throw refuse(['folderId'], `"folderId" refers to ${shown}, which is no folder here.`, 'UNKNOWN_REFERENCE');
}

function auditNote(
  context: Context,
  tx: Transaction,
  action: 'create_knowledge' | 'edit_knowledge' | 'delete_knowledge',
  note: NoteRecord,
  more: Record<string, string> = {},
): Promise<void> {
  const { id: targetId, organizationId, name } = note;
  return audit(context, tx, action, { organizationId, targetId, data: { name, ...more } });
}
