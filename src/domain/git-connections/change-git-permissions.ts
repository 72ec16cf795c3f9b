import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf } from '../../auth/viewer.ts';
import { notFound, refuse } from '../../common/errors.ts';
import { isRepositoryPath } from '../../forges/support/paths.ts';
import type { Transaction } from '../../store/store.ts';
import { auditAll } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { type CreateOptions, findReplay } from '../idempotency.ts';
import { lockScope } from '../identity/organizations/scope.ts';
import { useEnterpriseOrganization } from '../identity/organizations/use-enterprise-organization.ts';
import { newId, parseId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { cleanPath } from '../repositories/parse-reference.ts';
import { type GitPermissionRecord, getGitPermission, gitPermissionColumns } from './git-permissions.ts';

/** Maximum number of permissions of an organization. */
export const maxGitPermissions = 1_000;
/** Maximum number of permissions that one call creates. */
export const maxPermissionsAtOnce = 200;

/** A permission in inputs. Exactly one of the paths must be given. */
export const gitPermissionSchema = z.object({
  gitConnectionId: text('gitConnectionId', { min: 1, max: 255 }),
  repoPath: text('repoPath', { min: 1, max: 255 }).nullish(),
  groupPrefix: text('groupPrefix', { min: 1, max: 255 }).nullish(),
  prefixPath: text('prefixPath', { min: 1, max: 255 }).nullish(),
  isReadOnly: z.boolean({ error: '"isReadOnly" must be true or false.' }).nullish(),
});

/** See {@link gitPermissionSchema}. */
export type GitPermissionInput = z.input<typeof gitPermissionSchema>;

type PathOf = (index: number) => readonly string[];

/** Options of {@link createGitPermissions}. */
export interface PermissionOptions {
  /** Deletes the organization's other permissions. */
  readonly isReplacing?: boolean;
  /** Returns the path of an input in errors. */
  readonly pathOf?: PathOf;
  /** The idempotency key of the call, for one permission. */
  readonly idempotency?: CreateOptions;
}

/**
 * Creates permissions of an organization, all or none, and returns them in the order of the input. Sessions use them at once.
 * Throws FORBIDDEN, NOT_FOUND, INVALID_INPUT;
 * UNKNOWN_REFERENCE for a connection that does not exist, NOT_UNIQUE for a target that the organization already has,
 * LIMIT_EXCEEDED beyond {@link maxGitPermissions}.
 */
export async function createGitPermissions(
  context: Context,
  organization: string,
  raw: readonly GitPermissionInput[],
  { isReplacing = false, pathOf = (index) => ['permissions', `${index}`], idempotency = {} }: PermissionOptions = {},
): Promise<GitPermissionRecord[]> {
  const organizationId = await useEnterpriseOrganization(context, organization, permissionFor.manageGitPermissions);
  if (raw.length > maxPermissionsAtOnce) {
    throw refuse(['permissions'], `"permissions" must have at most ${maxPermissionsAtOnce} members.`);
  }
  const inputs = raw.map((input, index) => parseInput(gitPermissionSchema, input, pathOf(index)));
  const createdAt = context.now();
  const records = inputs.map((input, index): GitPermissionRecord => {
    const at = pathOf(index);
    const target = readTarget(input, at);
    const gitConnectionId = parseId('gitConnection', input.gitConnectionId);
    if (gitConnectionId === null) throw unknownConnection(at);
    const isReadOnly = input.isReadOnly ?? false;
    return {
      id: newId(),
      organizationId,
      gitConnectionId,
      ...target,
      isReadOnly,
      ...ownerOf(context.viewer),
      createdAt,
    };
  });
  return context.store.transact(async (tx) => {
    const [first] = records;
    const claim = { scope: organizationId, operation: 'createGitPermission', input: raw, resultId: first?.id ?? '' };
    const replay = await findReplay(context, tx, idempotency, claim);
    if (replay !== null) return [await readPermission(tx, replay)];
    await lockScope(tx, { enterpriseId: context.viewer.enterpriseId, organizationId });
    await requireConnections(context, tx, records, pathOf);
    if (isReplacing) await deleteAll(context, tx, organizationId);
    await requireNew(tx, organizationId, records, pathOf);
    if (records.length > 0) await tx.prisma.gitPermission.createMany({ data: records });
    await auditPermissions(context, tx, 'create_git_permission', records);
    return records;
  });
}

/** Changes whether a permission is for reading only. `organization`: an id that it must belong to. Throws FORBIDDEN, NOT_FOUND. */
export async function updateGitPermission(
  context: Context,
  id: string,
  { isReadOnly }: { readonly isReadOnly?: boolean | null | undefined },
  organization?: string,
): Promise<GitPermissionRecord> {
  const seen = await useGitPermission(context, id, organization);
  if (isReadOnly == null || isReadOnly === seen.isReadOnly) return seen;
  return context.store.transact(async (tx) => {
    const { count } = await tx.prisma.gitPermission.updateMany({ where: { id: seen.id }, data: { isReadOnly } });
    const after = { ...seen, isReadOnly };
    if (count > 0) await auditPermissions(context, tx, 'update_git_permission', [after]);
    return after;
  });
}

/** Deletes a permission and returns it: no clone and no push uses it from then on. Throws FORBIDDEN, NOT_FOUND. */
export async function deleteGitPermission(
  context: Context,
  id: string,
  organization?: string,
): Promise<GitPermissionRecord> {
  const seen = await useGitPermission(context, id, organization);
  await context.store.transact(async (tx) => {
    const { count } = await tx.prisma.gitPermission.deleteMany({ where: { id: seen.id } });
    if (count > 0) await auditPermissions(context, tx, 'delete_git_permission', [seen]);
  });
  return seen;
}

/** Deletes all permissions of an organization and returns them. Throws FORBIDDEN, NOT_FOUND. */
export async function clearGitPermissions(context: Context, organization: string): Promise<GitPermissionRecord[]> {
  const organizationId = await useEnterpriseOrganization(context, organization, permissionFor.manageGitPermissions);
  return context.store.transact(async (tx) => {
    await lockScope(tx, { enterpriseId: context.viewer.enterpriseId, organizationId });
    return deleteAll(context, tx, organizationId);
  });
}

async function useGitPermission(context: Context, id: string, organization?: string): Promise<GitPermissionRecord> {
  if (organization === undefined) return getGitPermission(context, id);
  const needed = permissionFor.manageGitPermissions;
  return getGitPermission(context, id, await useEnterpriseOrganization(context, organization, needed));
}

async function readPermission(tx: Transaction, id: string): Promise<GitPermissionRecord> {
  const sql = `select ${gitPermissionColumns} from git_permission p where p.id = $1`;
  const [permission] = await tx.query<GitPermissionRecord>(sql, [id]);
  if (!permission) throw notFound('git permission');
  return permission;
}

type Target = Pick<GitPermissionRecord, 'repoPath' | 'groupPrefix' | 'prefixPath'>;

function readTarget({ repoPath, groupPrefix, prefixPath }: GitPermissionInput, at: readonly string[]): Target {
  const entered = [repoPath, groupPrefix, prefixPath].filter((path) => path != null);
  if (entered.length !== 1) {
    throw refuse(at, 'Exactly one path must be given: of a repository, of a group, or the beginning of paths.');
  }
  const none = { repoPath: null, groupPrefix: null, prefixPath: null };
  if (repoPath != null) {
    const path = cleanPath(repoPath);
    if (path === null) throw refuse([...at, 'repoPath'], '"repoPath" must be the path of a repository: owner/name.');
    return { ...none, repoPath: path };
  }
  if (groupPrefix != null) {
    const group = groupPrefix.replace(/^\/+|\/+$/g, '');
    if (!isRepositoryPath(group)) throw refuse([...at, 'groupPrefix'], '"groupPrefix" must be the path of a group.');
    return { ...none, groupPrefix: group };
  }
  const prefix = (prefixPath as string).replace(/^\/+/, '');
  // A prefix may end inside a name, or with a slash.
  if (prefix === '' || !isRepositoryPath(`${prefix}x`)) {
    throw refuse([...at, 'prefixPath'], '"prefixPath" must be the beginning of a path.');
  }
  return { ...none, prefixPath: prefix };
}

const unknownConnection = (at: readonly string[]) =>
  refuse([...at, 'gitConnectionId'], 'There is no such git connection.', 'UNKNOWN_REFERENCE');

// Locks the connections, so that none is deleted before the permissions exist.
async function requireConnections(
  { viewer }: Context,
  tx: Transaction,
  records: readonly GitPermissionRecord[],
  pathOf: PathOf,
) {
  const ids = [...new Set(records.map(({ gitConnectionId }) => gitConnectionId))];
  const rows = await tx.query<{ id: string }>(
    `select id from git_connection where id = any($1::text[]) and enterprise_id = $2 and deleted_at is null
      order by id for share`,
    [ids, viewer.enterpriseId],
  );
  const known = new Set(rows.map(({ id }) => id));
  const index = records.findIndex(({ gitConnectionId }) => !known.has(gitConnectionId));
  if (index >= 0) throw unknownConnection(pathOf(index));
}

const targetKey = ({ gitConnectionId, repoPath, groupPrefix, prefixPath }: GitPermissionRecord) =>
  [gitConnectionId, repoPath ?? '', groupPrefix ?? '', prefixPath ?? ''].join(' ').toLowerCase();

async function requireNew(
  tx: Transaction,
  organizationId: string,
  records: readonly GitPermissionRecord[],
  pathOf: PathOf,
) {
  const sql = `select ${gitPermissionColumns} from git_permission p where p.organization_id = $1 limit ${maxGitPermissions}`;
  const existing = await tx.query<GitPermissionRecord>(sql, [organizationId]);
  if (existing.length + records.length > maxGitPermissions) {
    const message = `An organization has at most ${maxGitPermissions} git permissions.`;
    throw refuse(['permissions'], message, 'LIMIT_EXCEEDED');
  }
  const taken = new Set(existing.map(targetKey));
  for (const [index, record] of records.entries()) {
    const key = targetKey(record);
    if (taken.has(key)) {
      throw refuse(pathOf(index), 'The organization already has a permission for this path.', 'NOT_UNIQUE');
    }
    taken.add(key);
  }
}

async function deleteAll(context: Context, tx: Transaction, organizationId: string): Promise<GitPermissionRecord[]> {
  const deleted = await tx.query<GitPermissionRecord>(
    `delete from git_permission p where p.organization_id = $1 returning ${gitPermissionColumns}`,
    [organizationId],
  );
  await auditPermissions(context, tx, 'delete_git_permission', deleted);
  return deleted;
}

// Writes one entry for each permission, in one statement. All are of one organization.
async function auditPermissions(
  context: Context,
  tx: Transaction,
  action: 'create_git_permission' | 'update_git_permission' | 'delete_git_permission',
  permissions: readonly GitPermissionRecord[],
): Promise<void> {
  const targets = permissions.map(({ id, repoPath, groupPrefix, prefixPath, isReadOnly }) => ({
    targetId: id,
    data: { path: repoPath ?? groupPrefix ?? prefixPath, isReadOnly },
  }));
  await auditAll(context, tx, action, permissions[0]?.organizationId ?? null, targets);
}
