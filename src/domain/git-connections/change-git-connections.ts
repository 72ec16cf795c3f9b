import { requireConfirmation } from '../../auth/confirmation.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf, requireEnterprisePermission } from '../../auth/viewer.ts';
import { notFound, refuse } from '../../common/errors.ts';
import type { ForgeKind } from '../../forges/interface/forge.ts';
import type { Transaction } from '../../store/store.ts';
import { insertStatement, type Row, updateStatement } from '../../store/tables.ts';
import { audit } from '../audit/record-audit.ts';
import { changedBy } from '../authors.ts';
import type { Context } from '../context.ts';
import { type CreateOptions, findReplay } from '../idempotency.ts';
import { lockScope } from '../identity/organizations/scope.ts';
import { newId } from '../ids.ts';
import { parseInput } from '../input.ts';
import { changedValues } from '../record-values.ts';
import { requireVersion, type VersionCondition } from '../versions.ts';
import {
  type CreateGitConnectionInput,
  checkConnection,
  gitConnectionSchema,
  secretNames,
} from './connection-input.ts';
import { type GitConnectionRecord, getGitConnection, gitConnectionColumns } from './git-connections.ts';
import {
  type ConnectionSecrets,
  type ConnectionSettings,
  connectionAssociatedData,
  openSecrets,
} from './open-connection.ts';

/** Maximum number of connections of an enterprise. */
export const maxGitConnections = 100;

/**
 * Creates a git connection of the viewer's enterprise, without a request to the forge. Throws FORBIDDEN, INVALID_INPUT,
 * NOT_UNIQUE for a name that another connection has, LIMIT_EXCEEDED beyond {@link maxGitConnections},
 * IDEMPOTENCY_CONFLICT, and NOT_FOUND if the connection that the idempotency key created is gone.
 */
export async function createGitConnection(
  context: Context,
  raw: CreateGitConnectionInput,
  options: CreateOptions = {},
): Promise<GitConnectionRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.manageGitConnections);
  const { enterpriseId } = context.viewer;
  const input = parseInput(gitConnectionSchema, raw);
  const made = createRecord(context, newId(), input.name, settingsOf(input), secretsOf(input));
  requireConfirmation(context);
  return context.store.transact(async (tx) => {
    const claim = { scope: enterpriseId, operation: 'createGitConnection', input: raw, resultId: made.record.id };
    const replay = await findReplay(context, tx, options, claim);
    return replay === null ? insertConnection(context, tx, made) : lockConnection(tx, enterpriseId, replay);
  });
}

/** A connection that is not stored yet, with its sealed secrets. */
export interface NewConnection {
  readonly record: GitConnectionRecord;
  readonly sealed: string | null;
}

/** Checks a new connection of the viewer's enterprise and seals its secrets. `id`: unprefixed. Throws INVALID_INPUT. */
export function createRecord(
  context: Context,
  id: string,
  name: string,
  settings: ConnectionSettings,
  secrets: ConnectionSecrets,
): NewConnection {
  const { enterpriseId } = context.viewer;
  const hostKey = checkConnection(context, settings, secrets);
  const now = context.now();
  const sealed = seal(context, { id, enterpriseId }, secrets);
  const record: GitConnectionRecord = {
    ...{ id, enterpriseId, ...settings, name, hostKey, hasCredential: sealed !== null },
    hasWebhookSecret: secrets.webhookSecret !== undefined,
    ...{
      lastTest: null,
      lastFailure: null,
      lastWebhookAt: null,
      lastWebhookFailure: null,
      lastWebhookRefusal: null,
      ...ownerOf(context.viewer),
      ...changedBy(context),
    },
    ...{ createdAt: now, updatedAt: now },
  };
  return { record, sealed };
}

/** Stores a new connection, with its audit entry. Throws NOT_UNIQUE and LIMIT_EXCEEDED like {@link createGitConnection}. */
export async function insertConnection(
  context: Context,
  tx: Transaction,
  { record, sealed }: NewConnection,
): Promise<GitConnectionRecord> {
  const { enterpriseId } = record;
  await lockScope(tx, { enterpriseId, organizationId: null });
  await requireRoom(tx, enterpriseId);
  await requireFreeName(tx, record);
  const { hasCredential: _a, lastWebhookAt: _b, lastWebhookFailure: _c, ...row } = record;
  const insert = insertStatement('GitConnection', { ...row, sealed, deletedAt: null });
  await tx.query(insert.text, insert.values);
  await auditConnection(context, tx, 'create_git_connection', record);
  return record;
}

/** Changes of a connection: an omitted (or undefined) member does not change. */
export type GitConnectionChange = {
  readonly [Name in keyof CreateGitConnectionInput]?: CreateGitConnectionInput[Name] | undefined;
};

/**
 * Changes the connection of an id in any form; writes nothing if nothing changes. A stored credential never goes to another
 * server: a change of the type or of the host needs the credential again. Throws FORBIDDEN, NOT_FOUND, CONFLICT, and the errors
 * of {@link createGitConnection}.
 */
export async function updateGitConnection(
  context: Context,
  id: string,
  raw: GitConnectionChange & VersionCondition,
): Promise<GitConnectionRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.manageGitConnections);
  const seen = await getGitConnection(context, id);
  const input = parseInput(gitConnectionSchema.partial(), raw);
  return context.store.transact(async (tx) => {
    await lockScope(tx, { enterpriseId: seen.enterpriseId, organizationId: null });
    const before = await lockConnection(tx, seen.enterpriseId, seen.id);
    requireVersion(before, raw);
    const { token: _token, privateKey: _key, webhookSecret: _secret, ...settings } = input;
    const changed = changedValues<GitConnectionRecord, Partial<GitConnectionRecord>>(
      before,
      settings as Partial<GitConnectionRecord>,
    );
    const entered = secretNames.filter((name) => input[name] !== undefined);
    if (Object.keys(changed).length === 0 && entered.length === 0) return before;
    const isOtherServer = changed.providerType !== undefined || changed.host !== undefined;
    const credential = (changed.providerType ?? before.providerType) === 'github_app' ? 'privateKey' : 'token';
    if (isOtherServer && before.hasCredential && input[credential] === undefined) {
      const at = changed.providerType === undefined ? 'host' : 'providerType';
      const message = `"${credential}" must be given again when "${at}" changes: a stored credential is not sent to another server.`;
      throw refuse([credential], message);
    }
    requireConfirmation(context);
    const after: GitConnectionRecord = { ...before, ...changed };
    const old = isOtherServer ? {} : await readSecrets(context, tx, before);
    const secrets = { ...old, ...secretsOf(input) };
    for (const name of entered) if (input[name] === null) delete secrets[name];
    const hostKey = checkConnection(context, after, secrets);
    if (changed.name !== undefined) await requireFreeName(tx, after);
    const sealed = seal(context, before, secrets);
    const isRenewed = isOtherServer || entered.length > 0 || Object.keys(changed).some((name) => name !== 'name');
    const written = {
      ...changed,
      hostKey,
      sealed,
      hasWebhookSecret: secrets.webhookSecret !== undefined,
      ...changedBy(context, before),
      ...(isRenewed && { lastFailure: null }),
    };
    await writeConnection(tx, before.id, written);
    const names = [...Object.keys(changed), ...entered];
    await auditConnection(context, tx, 'update_git_connection', after, { changed: names.join(' ') });
    const { sealed: _sealed, ...values } = written;
    return { ...before, ...values, hasCredential: sealed !== null };
  });
}

/**
 * Deletes a connection with its permissions, erases its credential, and returns it. From the commit on, no clone and no push
 * uses it. Throws FORBIDDEN, NOT_FOUND, CONFLICT.
 */
export async function deleteGitConnection(
  context: Context,
  id: string,
  condition?: VersionCondition,
): Promise<GitConnectionRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.manageGitConnections);
  const seen = await getGitConnection(context, id);
  return context.store.transact(async (tx) => {
    const before = await lockConnection(tx, seen.enterpriseId, seen.id);
    requireVersion(before, condition);
    await writeConnection(tx, before.id, {
      sealed: null,
      hasWebhookSecret: false,
      deletedAt: context.now(),
      ...changedBy(context, before),
    });
    await tx.prisma.gitPermission.deleteMany({ where: { gitConnectionId: before.id } });
    await auditConnection(context, tx, 'delete_git_connection', before);
    return before;
  });
}

const settingsOf = (input: CreateGitConnectionInput) => ({
  providerType: input.providerType as ForgeKind,
  host: input.host.trim(),
  username: input.username ?? null,
  appId: input.appId ?? null,
  installationId: input.installationId ?? null,
});

function secretsOf(input: { readonly [Name in (typeof secretNames)[number]]?: string | null | undefined }) {
  const entered = secretNames.flatMap((name) => (input[name] == null ? [] : [[name, input[name].trim()]]));
  return Object.fromEntries(entered) as { -readonly [Name in keyof ConnectionSecrets]: string };
}

/** Seals the secrets of a connection; null: it has none. */
export function seal(
  { keyring }: Context,
  { enterpriseId, id }: Pick<GitConnectionRecord, 'enterpriseId' | 'id'>,
  secrets: ConnectionSecrets,
): string | null {
  if (Object.keys(secrets).length === 0) return null;
  return keyring.seal(JSON.stringify(secrets), connectionAssociatedData(enterpriseId, id));
}

/** Reads the secrets of a connection. Throws ForgeError CREDENTIAL_REFUSED. */
export async function readSecrets(context: Context, tx: Transaction, { enterpriseId, id }: GitConnectionRecord) {
  const [row] = await tx.query<{ sealed: string | null }>('select sealed from git_connection where id = $1', [id]);
  const sealed = row?.sealed ?? null;
  return sealed === null ? {} : openSecrets(context, sealed, connectionAssociatedData(enterpriseId, id));
}

/** Locks the row of a connection and returns it. Throws NOT_FOUND. */
export async function lockConnection(tx: Transaction, enterpriseId: string, id: string): Promise<GitConnectionRecord> {
  const [connection] = await tx.query<GitConnectionRecord>(
    `select ${gitConnectionColumns} from git_connection c
      where c.id = $1 and c.enterprise_id = $2 and c.deleted_at is null for update`,
    [id, enterpriseId],
  );
  if (!connection) throw notFound('git connection');
  return connection;
}

/** Throws LIMIT_EXCEEDED if an enterprise has {@link maxGitConnections}. */
export async function requireRoom(tx: Transaction, enterpriseId: string): Promise<void> {
  const count = await tx.prisma.gitConnection.count({ where: { enterpriseId, deletedAt: null } });
  if (count < maxGitConnections) return;
  throw refuse(['name'], `An enterprise has at most ${maxGitConnections} git connections.`, 'LIMIT_EXCEEDED');
}

/** Throws NOT_UNIQUE if another connection of the enterprise has the name. */
export async function requireFreeName(
  tx: Transaction,
  { id, enterpriseId, name }: Pick<GitConnectionRecord, 'id' | 'enterpriseId' | 'name'>,
): Promise<void> {
  const taken = await tx.query(
    `select id from git_connection
      where enterprise_id = $1 and lower(name) = lower($2) and id <> $3 and deleted_at is null`,
    [enterpriseId, name, id],
  );
  if (taken.length === 0) return;
  const message = `"name" must be unique: no other git connection has, but ${JSON.stringify(name)} is taken.`;
  throw refuse(['name'], message, 'NOT_UNIQUE');
}

/** Writes changed columns of a connection. */
export async function writeConnection(
  tx: Transaction,
  id: string,
  change: Partial<Row<'GitConnection'>>,
): Promise<void> {
  const update = updateStatement('GitConnection', id, change);
  await tx.query(update.text, update.values);
}

/** Records an act on a connection. */
export async function auditConnection(
  context: Context,
  tx: Transaction,
  action: 'create_git_connection' | 'update_git_connection' | 'delete_git_connection' | 'test_git_connection',
  { id, name, providerType, host }: GitConnectionRecord,
  more: Record<string, string | boolean> = {},
): Promise<void> {
  const data = { name, providerType, host, ...more };
  await audit(context, tx, action, { organizationId: null, targetId: id, data });
}
