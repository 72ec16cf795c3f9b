import { builtInRoles } from '../../auth/permissions.ts';
import { newToken } from '../../auth/tokens.ts';
import { systemViewer } from '../../auth/viewer.ts';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import type { Services } from '../context.ts';
import { insertApiKey } from '../identity/keys/api-keys.ts';
import { newId } from '../ids.ts';
import { adoptCopiedDatabase } from '../maintenance/copied-database.ts';

/** The results of the first start, which are shown once. */
export interface FirstStart {
  readonly adminToken: string;
  readonly v1Key: string;
  readonly organizationId: string;
}

/** The values of the installation that every start reads. */
export interface Installation {
  readonly enterpriseId: string;
  readonly firstStart: FirstStart | null;
  /** The time when maintenance mode began for all processes on this database; null: it is off. */
  readonly maintenanceSince: Date | null;
  /** True if this start found that the database is a copy. */
  readonly isCopy: boolean;
}

/** Options of a process's start on a database. */
interface StartOptions {
  readonly bootstrapToken: string | null;
  readonly isKeyGenerated: boolean;
  /** True if the database is on a server. */
  readonly isShared: boolean;
  /** The value of MAINTENANCE; null: not set. */
  readonly maintenance?: boolean | null;
}

const administratorName = 'Administrator';

/** A refusal to start, with a message of one sentence for the operator. */
export class StartError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StartError';
  }
}

/**
 * Creates the built-in roles if they are missing and, at the first start, the enterprise, its organization, its user,
 * the administrator and their keys, all in one transaction. `bootstrapToken` becomes a live administrator key at every
 * start. Maintenance mode begins if the database is a copy, unless `maintenance` is false, which also ends it. Throws
 * StartError if the database belongs to another SECRET_KEY, or if there is none and the database is not new.
 */
export async function prepareInstallation(
  services: Pick<Services, 'store' | 'keyring' | 'now' | 'log'>,
  options: StartOptions,
): Promise<Installation> {
  const identity = await services.store.readIdentity();
  return services.store.transact(async (tx) => {
    // Two processes may start on one empty database: one of them does this, the other waits and finds it done.
    await tx.query('select pg_advisory_xact_lock(7309453, 1)');
    const known = await tx.prisma.installation.findUnique({ where: { id: 'installation' } });
    if (known) {
      await checkKey(services, tx, known.keyFingerprint, options);
      const recordedIdentity = known.databaseIdentity;
      // Before this transaction writes: its own rows would look like those of another cluster.
      const isCopy = await adoptCopiedDatabase(tx, services.log, { identity, recordedIdentity });
      await writeBuiltInRoles(tx);
      if (options.bootstrapToken !== null)
        await ensureAdministratorToken(services, tx, known.enterpriseId, options.bootstrapToken);
      const maintenanceSince = await updateMaintenance(services, tx, { ...options, isCopy });
      return { enterpriseId: known.enterpriseId, firstStart: null, maintenanceSince, isCopy };
    }
    await writeBuiltInRoles(tx);
    return firstStart(services, tx, options.bootstrapToken, identity);
  });
}

async function updateMaintenance(
  { now }: Pick<Services, 'now'>,
  tx: Transaction,
  { maintenance, isCopy }: Pick<StartOptions, 'maintenance'> & { readonly isCopy: boolean },
): Promise<Date | null> {
  const change =
    maintenance === false ? 'null' : isCopy ? 'coalesce(maintenance_since, $1::timestamptz)' : 'maintenance_since';
  const values = change.includes('$1') ? [now()] : [];
  const [row] = await tx.query<{ since: Date | null }>(
    `update installation set maintenance_since = ${change} returning maintenance_since as since`,
    values,
  );
  return row?.since ?? null;
}

/** The message of a command on an empty database. */
export const emptyDatabase =
  'This database is empty: no service was ever started on it. Check DATA_DIR or DATABASE_URL.';

/** Returns the enterprise of a database that has been started before; throws StartError for an empty one. */
export async function findEnterpriseId(services: Pick<Services, 'store'>): Promise<string> {
  const [known] = await services.store.query<{ enterpriseId: string }>(
    'select enterprise_id as "enterpriseId" from installation',
  );
  if (!known) throw new StartError(emptyDatabase);
  return known.enterpriseId;
}

/** Creates an administrator token, for an operator who has access to the host but has lost the token. */
export async function newAdministratorToken(
  services: Pick<Services, 'store' | 'keyring' | 'now'>,
  enterpriseId: string,
): Promise<string> {
  const token = newToken('SERVICE_USER');
  await services.store.transact((tx) => ensureAdministratorToken(services, tx, enterpriseId, token));
  return token;
}

async function checkKey(
  services: Pick<Services, 'keyring'>,
  tx: Transaction,
  fingerprint: string,
  options: { isKeyGenerated: boolean; isShared: boolean },
): Promise<void> {
  const { keyring } = services;
  if (fingerprint === keyring.fingerprint) return;
  if (options.isKeyGenerated && options.isShared) {
    throw new StartError(
      'SECRET_KEY is needed: the database at DATABASE_URL is in use, and its tokens and secrets are bound to the key it was first started with.',
    );
  }
  if (fingerprint !== keyring.previousFingerprint) {
    throw new StartError(
      'SECRET_KEY is not the one that this database was first started with: its tokens and secrets could not be read. Set the right key, or set the old one as SECRET_KEY_PREVIOUS to rotate it.',
    );
  }
  await tx.prisma.installation.update({ where: { id: 'installation' }, data: { keyFingerprint: keyring.fingerprint } });
}

async function writeBuiltInRoles(tx: Transaction): Promise<void> {
  for (const role of builtInRoles) {
    const { id, name, scope } = role;
    const permissions = [...role.permissions];
    await tx.prisma.role.upsert({
      where: { id },
      create: { id, name, scope, permissions },
      update: { name, scope, permissions },
    });
  }
}

async function firstStart(
  services: Pick<Services, 'keyring' | 'now'>,
  tx: Transaction,
  bootstrapToken: string | null,
  databaseIdentity: string | null,
): Promise<Installation> {
  const createdAt = services.now();
  const enterpriseId = newId();
  const organizationId = newId();
  const userId = newId();
  await tx.prisma.enterprise.create({ data: { id: enterpriseId, name: 'Switchyard', createdAt } });
  await tx.prisma.organization.create({
    data: { id: organizationId, enterpriseId, name: 'Default', createdAt, updatedAt: createdAt },
  });
  await tx.prisma.user.create({
    data: { id: userId, enterpriseId, email: 'admin@localhost', name: administratorName, createdAt },
  });
  const assign = { enterpriseId, userId, createdAt };
  await tx.prisma.roleAssignment.create({ data: { id: newId(), ...assign, roleId: 'account_admin' } });
  await tx.prisma.roleAssignment.create({ data: { id: newId(), ...assign, organizationId, roleId: 'org_admin' } });
  const adminToken = bootstrapToken ?? newToken('SERVICE_USER');
  await ensureAdministratorToken(services, tx, enterpriseId, adminToken);
  const v1Key = newToken('PERSONAL');
  const owner = { enterpriseId, organizationId, userId, serviceUserId: null, roleId: null, expiresAt: null };
  await insertApiKey(services, tx, { kind: 'PERSONAL', name: 'First v1 key', ...owner }, v1Key);
  const keyFingerprint = services.keyring.fingerprint;
  const data = { id: 'installation', enterpriseId, keyFingerprint, createdAt, databaseIdentity };
  await tx.prisma.installation.create({ data });
  return { enterpriseId, firstStart: { adminToken, v1Key, organizationId }, maintenanceSince: null, isCopy: false };
}

async function ensureAdministratorToken(
  services: Pick<Services, 'keyring' | 'now'>,
  tx: Transaction,
  enterpriseId: string,
  token: string,
): Promise<void> {
  const createdAt = services.now();
  // Also under the previous pepper: during a rotation of SECRET_KEY one token must not become two keys.
  const known = await tx.prisma.apiKey.findFirst({ where: { tokenHash: { in: services.keyring.tokenHashes(token) } } });
  // The token's own service user, else the first one that still has all permissions. It may have been deleted since, or
  // have another role, and an operator on the host must still be able to recover access.
  const [found] = await tx.query<{ id: string }>(
    `select s.id from service_user s
       join role_assignment a on a.service_user_id = s.id and a.organization_id is null and a.role_id = 'account_admin'
      where s.enterprise_id = $1 and s.organization_id is null and (s.name = $2 or s.id = $3)
        and s.deleted_at is null and s.expires_at is null
      order by s.id is not distinct from $3 desc, s.created_at, s.id limit 1`,
    [enterpriseId, administratorName, known?.serviceUserId ?? null],
  );
  let administrator = found;
  if (!administrator) {
    administrator = await tx.prisma.serviceUser.create({
      data: { id: newId(), enterpriseId, name: administratorName, createdAt },
    });
    await tx.prisma.roleAssignment.create({
      data: { id: newId(), enterpriseId, serviceUserId: administrator.id, roleId: 'account_admin', createdAt },
    });
  }
  const { keyring } = services;
  const name = 'Administrator token';
  const record = (targetId: string, isRestored: boolean) => {
    // Recorded as an act of the service: the operator on the host has no key.
    const context = { viewer: systemViewer(enterpriseId, []), address: null, now: services.now };
    const data = { kind: 'SERVICE_USER', name, isRestored };
    return audit(context, tx, 'create_service_user_api_key', { organizationId: null, targetId, data });
  };
  if (known) {
    const isGood = known.revokedAt === null && known.expiresAt === null && known.serviceUserId === administrator.id;
    await tx.prisma.apiKey.update({
      where: { id: known.id },
      data: {
        tokenHash: keyring.hashToken(token),
        revokedAt: null,
        expiresAt: null,
        ...{ kind: 'SERVICE_USER', organizationId: null, userId: null, serviceUserId: administrator.id, roleId: null },
      },
    });
    if (!isGood) await record(known.id, true);
    return;
  }
  const owner = { enterpriseId, organizationId: null, userId: null, serviceUserId: administrator.id, roleId: null };
  const key = await insertApiKey(services, tx, { kind: 'SERVICE_USER', name, ...owner, expiresAt: null }, token);
  await record(key.id, false);
}
