import { z } from 'zod';
import { ownerOf } from '../../../auth/viewer.ts';
import { notFound, refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { toData } from '../../../store/tables.ts';
import { audit } from '../../audit/record-audit.ts';
import { changedBy, editorValues, setEditor } from '../../authors.ts';
import type { Context } from '../../context.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
import { type AuthorizedScope, lockScope, type Scope, useScope } from '../../identity/organizations/scope.ts';
import { lockInScope } from '../../identity/organizations/scoped-rows.ts';
import { newId, parseId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';
import { changedValues } from '../../record-values.ts';
import { requireVersion, type VersionCondition } from '../../versions.ts';
import { changeNotes } from './change-notes.ts';
import { maxFolderDepth } from './folder-paths.ts';
import { type FolderRecord, maxFolders } from './folders.ts';
import { viewNotes } from './notes.ts';

const access = { view: viewNotes, change: changeNotes };

/** The values of a folder in inputs. */
export const folderSchema = z.object({
  name: text('name', { min: 1, max: 200 }).refine((name) => !name.includes('/'), {
    error: '"name" must not contain "/", which separates folders in a path.',
  }),
  description: text('description', { max: 2_000 }).nullish(),
  parentId: z.string().nullish(),
});

/** The input of a folder. `parentId` in any form, of a folder of the same scope; null: at the root. */
export type CreateFolderInput = z.input<typeof folderSchema>;

/**
 * Creates a folder. Throws the errors of {@link useScope}, INVALID_INPUT, UNKNOWN_REFERENCE at `parentId`, NOT_UNIQUE
 * at `name` if another folder with the same parent has it (case-insensitive), LIMIT_EXCEEDED beyond {@link maxFolders}
 * or {@link maxFolderDepth}, IDEMPOTENCY_CONFLICT, and NOT_FOUND if the folder that the idempotency key created is
 * gone.
 */
export async function createFolder(
  context: Context,
  scope: Scope,
  raw: CreateFolderInput,
  options: CreateOptions = {},
): Promise<FolderRecord> {
  const authorizedScope = await useScope(context, scope, changeNotes);
  const input = parseInput(folderSchema, raw);
  const now = context.now();
  const id = newId();
  return context.store.transact(async (tx) => {
    const claim = {
      scope: authorizedScope.organizationId ?? authorizedScope.enterpriseId,
      operation: 'createKnowledgeFolder',
      input: raw,
    };
    const replay = await findReplay(context, tx, options, { ...claim, resultId: id });
    if (replay !== null) return readOwnFolder(tx, replay);
    const siblings = await lockFolders(tx, authorizedScope);
    if (siblings.size >= maxFolders) {
      throw refuse(['name'], `There are already ${maxFolders} folders here, which is the maximum.`, 'LIMIT_EXCEEDED');
    }
    const folder: FolderRecord = {
      id,
      ...authorizedScope,
      parentId: parentFor(siblings, input.parentId ?? null),
      name: input.name,
      description: input.description ?? null,
      ...ownerOf(context.viewer),
      ...changedBy(context),
      createdAt: now,
      updatedAt: now,
    };
    requireFits(siblings, folder);
    await tx.prisma.knowledgeFolder.create({ data: folder });
    await auditFolder(context, tx, 'create_folder', folder);
    return folder;
  });
}

async function readOwnFolder(tx: Transaction, id: string): Promise<FolderRecord> {
  const folder = await tx.prisma.knowledgeFolder.findUnique({ where: { id } });
  if (!folder) throw notFound('folder');
  return folder;
}

const changeSchema = folderSchema.partial();

/**
 * The changes of a folder: an omitted (or undefined) member does not change. null clears the description, or moves the
 * folder to the root.
 */
export type FolderChange = { readonly [Name in keyof CreateFolderInput]?: CreateFolderInput[Name] | undefined };

/**
 * Changes or moves the folder of an id in any form, with its contents; writes nothing if nothing changes. Without a
 * scope: any scope in which the viewer can see it. Throws NOT_FOUND, CONFLICT, INVALID_INPUT for a move into itself,
 * and the errors of {@link createFolder}.
 */
export async function updateFolder(
  context: Context,
  id: string,
  raw: FolderChange & VersionCondition,
  scope?: Scope,
): Promise<FolderRecord> {
  const authorizedScope = scope === undefined ? null : await useScope(context, scope, changeNotes);
  const change = parseInput(changeSchema, raw);
  return context.store.transact(async (tx) => {
    const before = await lockInScope(context, tx, 'folder', id, authorizedScope, access);
    requireVersion(before, raw);
    const folders = await lockFolders(tx, before);
    const { parentId } = change;
    const changed = changedValues(before, {
      ...change,
      parentId: parentId === undefined ? undefined : parentFor(folders, parentId),
    });
    const names = Object.keys(changed);
    if (names.length === 0) return before;
    const by = changedBy(context, before);
    const after = { ...before, ...changed, ...by };
    requireFits(folders, after);
    await tx.prisma.knowledgeFolder.update({
      where: { id: before.id },
      data: toData('KnowledgeFolder', { ...changed, ...by }),
      select: { id: true },
    });
    await auditFolder(context, tx, 'update_folder', after, { changed: names.join(' ') });
    return after;
  });
}

/**
 * Deletes the folder of an id in any form and its subfolders; their notes are then in no folder. Returns the deleted
 * folder. Needs and errors as {@link updateFolder}.
 */
export async function deleteFolder(
  context: Context,
  id: string,
  scope?: Scope,
  condition?: VersionCondition,
): Promise<FolderRecord> {
  const authorizedScope = scope === undefined ? null : await useScope(context, scope, changeNotes);
  return context.store.transact(async (tx) => {
    const folder = await lockInScope(context, tx, 'folder', id, authorizedScope, access);
    requireVersion(folder, condition);
    const deletedIds = subtreeOf(await lockFolders(tx, folder), folder.id).map((each) => each.id);
    await tx.prisma.knowledgeFolder.deleteMany({ where: { id: { in: deletedIds } } });
    const moved = await tx.query(
      `update knowledge_note set folder_id = null, ${setEditor(2)} where folder_id = any($1::text[]) returning id`,
      [deletedIds, ...editorValues(changedBy(context))],
    );
    await auditFolder(context, tx, 'delete_folder', folder, { folders: deletedIds.length, notes: moved.length });
    return folder;
  });
}

type Folders = ReadonlyMap<string, Pick<FolderRecord, 'id' | 'parentId' | 'name'>>;

// Locks all folders of the scope, at most maxFolders, until the transaction ends.
async function lockFolders(tx: Transaction, scope: AuthorizedScope): Promise<Folders> {
  await lockScope(tx, scope);
  const rows = await tx.query<Pick<FolderRecord, 'id' | 'parentId' | 'name'>>(
    `select f.id, f.parent_id as "parentId", f.name from knowledge_folder f
      where f.enterprise_id = $1 and coalesce(f.organization_id, '') = coalesce($2::text, '')`,
    [scope.enterpriseId, scope.organizationId],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

function parentFor(folders: Folders, parentId: string | null): string | null {
  if (parentId === null) return null;
  const bare = parseId('folder', parentId);
  if (bare !== null && folders.has(bare)) return bare;
  const shown = JSON.stringify(parentId.slice(0, 80));
  throw refuse(
    ['parentId'],
    `"parentId" refers to ${shown}, which is not a folder of this organization.`,
    'UNKNOWN_REFERENCE',
  );
}

/** Checks the rules about a folder and the others of its scope: no cycle, not too deep, a unique name. */
function requireFits(folders: Folders, folder: FolderRecord): void {
  const below = subtreeOf(folders, folder.id);
  if (below.some(({ id }) => id === folder.parentId)) {
    throw refuse(['parentId'], '"parentId" must not be the folder itself or a folder inside it.');
  }
  let depth = 0;
  for (let id: string | null = folder.parentId; id !== null; id = folders.get(id)?.parentId ?? null) depth += 1;
  depth += Math.max(1, ...below.map((each) => each.depth));
  if (depth > maxFolderDepth) {
    const message = `Folders nest at most ${maxFolderDepth} deep, but this would be ${depth}.`;
    throw refuse(['parentId'], message, 'LIMIT_EXCEEDED');
  }
  for (const { id, parentId, name } of folders.values()) {
    if (id === folder.id || parentId !== folder.parentId || name.toLowerCase() !== folder.name.toLowerCase()) continue;
    throw refuse(
      ['name'],
      `"name" is already in use by another folder in the same place: ${JSON.stringify(name)}.`,
      'NOT_UNIQUE',
    );
  }
}

/** Returns a folder, with depth 1, and all its subfolders; empty if there is no folder with the id. */
function subtreeOf(folders: Folders, id: string): { readonly id: string; readonly depth: number }[] {
  const children = new Map<string | null, string[]>();
  for (const folder of folders.values()) {
    children.set(folder.parentId, [...(children.get(folder.parentId) ?? []), folder.id]);
  }
  const found: { id: string; depth: number }[] = [];
  let level = folders.has(id) ? [id] : [];
  for (let depth = 1; level.length > 0; depth++) {
    found.push(...level.map((each) => ({ id: each, depth })));
    level = level.flatMap((each) => children.get(each) ?? []);
  }
  return found;
}

function auditFolder(
  context: Context,
  tx: Transaction,
  action: 'create_folder' | 'update_folder' | 'delete_folder',
  folder: FolderRecord,
  more: Record<string, string | number> = {},
): Promise<void> {
  const { id: targetId, organizationId, name } = folder;
  return audit(context, tx, action, { organizationId, targetId, data: { name, ...more } });
}
