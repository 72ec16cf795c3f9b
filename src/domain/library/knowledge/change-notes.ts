import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import { ownerOf } from '../../../auth/viewer.ts';
import { notFound, refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { toData } from '../../../store/tables.ts';
import { audit } from '../../audit/record-audit.ts';
import { changedBy } from '../../authors.ts';
import type { Context } from '../../context.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
import {
  type AuthorizedScope,
  type Scope,
  type ScopePermissions,
  useScope,
} from '../../identity/organizations/scope.ts';
import { lockInScope } from '../../identity/organizations/scoped-rows.ts';
import { newId, parseId } from '../../ids.ts';
import { maxTitleLength, parseInput, text } from '../../input.ts';
import { changedValues, withNulls } from '../../record-values.ts';
import { requireVersion, type VersionCondition } from '../../versions.ts';
import { macroSchema, requireFreeMacro } from '../macros.ts';
import { type NoteRecord, viewNotes } from './notes.ts';

/** Maximum length of the body of a note, in characters. */
export const maxNoteBodyLength = 100_000;

/** The permissions to change notes and folders. */
export const changeNotes: ScopePermissions = {
  organization: permissionFor.changeKnowledge,
  enterprise: permissionFor.changeEnterpriseKnowledge,
};

const access = { view: viewNotes, change: changeNotes };

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
      ...withNulls(noteSchema, input),
      folderId: await folderFor(tx, authorizedScope, input.folderId ?? null),
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
  const note = await tx.prisma.knowledgeNote.findUnique({ where: { id } });
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
    const before = await lockInScope(context, tx, 'note', id, authorizedScope, access);
    requireVersion(before, raw);
    const { folderId, isEnabled } = change;
    const changed = changedValues(before, {
      ...change,
      folderId: folderId === undefined ? undefined : await folderFor(tx, before, folderId),
      isEnabled: isEnabled ?? undefined,
    });
    const names = Object.keys(changed);
    if (names.length === 0) return before;
    if (changed.macro != null) await requireFreeMacro(tx, 'note', before, { id: before.id, macro: changed.macro });
    const by = changedBy(context, before);
    const after = { ...before, ...changed, ...by };
    await tx.prisma.knowledgeNote.update({
      where: { id: before.id },
      data: toData('KnowledgeNote', { ...changed, ...by }),
      select: { id: true },
    });
    await auditNote(context, tx, 'edit_knowledge', after, { changed: names.join(' ') });
    return after;
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
    const note = await lockInScope(context, tx, 'note', id, authorizedScope, access);
    requireVersion(note, condition);
    await tx.prisma.knowledgeNote.delete({ where: { id: note.id }, select: { id: true } });
    await auditNote(context, tx, 'delete_knowledge', note);
    return note;
  });
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
  throw refuse(
    ['folderId'],
    `"folderId" refers to ${shown}, which is not a folder of this organization.`,
    'UNKNOWN_REFERENCE',
  );
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
