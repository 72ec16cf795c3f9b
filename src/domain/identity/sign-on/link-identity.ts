import { rolesOfUser } from '../../../auth/group-roles.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import type { Identity } from '../../../oidc/identity.ts';
import type { OidcProvider } from '../../../oidc/provider.ts';
import { isDomainAllowed } from '../../../oidc/settings.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Services } from '../../context.ts';
import { newId, parseId } from '../../ids.ts';
import { announceKeyChange } from '../keys/key-changes.ts';
import { SignOnError } from './refusals.ts';

/** A user of the enterprise. */
export interface LinkedUser {
  readonly id: string;
  readonly enterpriseId: string;
  readonly email: string;
  readonly name: string | null;
}

/** A user in the database, and its state. */
type FoundUser = LinkedUser & { readonly isDeactivated: boolean };

const foundColumns =
  'u.id, u.enterprise_id as "enterpriseId", u.email, u.name, u.deactivated_at is not null as "isDeactivated"';

/** A user who may sign in, and the link with the provider. */
export interface Linked {
  readonly user: LinkedUser;
  readonly identityId: string;
}

/** Returns a viewer for audit entries of a user who signs in. It has no permissions. */
export const actAs = ({ id, enterpriseId, email, name }: LinkedUser): Viewer => ({
  principal: { type: 'USER', id, name, email },
  keyKind: null,
  apiKeyId: null,
  apiKeyName: null,
  enterpriseId,
  homeOrganizationId: null,
  enterprisePermissions: new Set(),
  everywhere: new Set(),
  organizations: new Map(),
  expiresAt: null,
});

interface Step {
  readonly services: Services;
  readonly tx: Transaction;
  readonly provider: OidcProvider;
  readonly identity: Identity;
  readonly enterpriseId: string;
  readonly address: string | null;
}

/**
 * Finds the user of an identity by issuer and subject. The first time, links the user with the same verified email address, or
 * creates one if the domain is allowed. Stores the user's groups, and ends the access of a user without a role. Throws a {@link
 * SignOnError}.
 */
export async function linkIdentity(
  services: Services,
  provider: OidcProvider,
  identity: Identity,
  address: string | null,
): Promise<Linked> {
  const linked = await services.store.transact(async (tx) => {
    // The providers are those of the installation, and so are the users who sign in with them.
    const { enterpriseId } = await tx.prisma.installation.findUniqueOrThrow({ where: { id: 'installation' } });
    // Of two first sign-ins at the same time, the second finds what the first has made.
    await tx.query('select pg_advisory_xact_lock(7309454, hashtext($1))', [`${identity.issuer} ${identity.subject}`]);
    const step = { services, tx, provider, identity, enterpriseId, address };
    const known = await findLinked(step);
    const found = known ?? (await linkByEmail(step));
    requireDomain(step, known === null ? identity.email : (identity.email ?? known.user.email));
    await storeSignIn(step, found);
    const hasRole = await hasRoles(tx, found.user);
    // A known user loses what depended on the groups, so this must be kept; a new user must leave nothing.
    if (!hasRole && known === null) throw new SignOnError('NO_ROLE');
    return { ...found, hasRole };
  });
  if (!linked.hasRole) throw new SignOnError('NO_ROLE');
  return linked;
}

async function findLinked(step: Step): Promise<Linked | null> {
  const { tx, identity, enterpriseId } = step;
  const [row] = await tx.query<FoundUser & { identityId: string; isDeleted: boolean }>(
    `select i.id as "identityId", ${foundColumns}, u.deleted_at is not null as "isDeleted"
       from user_identity i join user_account u on u.id = i.user_id
      where i.enterprise_id = $1 and i.issuer = $2 and i.subject = $3`,
    [enterpriseId, identity.issuer, identity.subject],
  );
  if (row === undefined) return null;
  const { identityId, isDeleted, ...user } = row;
  return isDeleted ? linkAgain(step, identityId) : { user: requireActive(user), identityId };
}

function requireActive({ isDeactivated, ...user }: FoundUser): LinkedUser {
  if (isDeactivated) throw new SignOnError('USER_DEACTIVATED');
  return user;
}

// A user whom an administrator deleted must not come back with the default role, but may be created again by an administrator.
async function linkAgain({ tx, identity, enterpriseId }: Step, identityId: string): Promise<Linked> {
  const { email, isEmailVerified } = identity;
  const user = email !== null && isEmailVerified ? await findByEmail(tx, enterpriseId, email) : null;
  if (user === null) throw new SignOnError('USER_DELETED');
  const moved = await tx.query(
    `update user_identity i set user_id = $2 where i.id = $1
        and not exists (select 1 from user_identity other where other.user_id = $2 and other.issuer = i.issuer) returning i.id`,
    [identityId, user.id],
  );
  if (moved.length === 0) throw new SignOnError('OTHER_IDENTITY');
  return { user, identityId };
}

function requireDomain({ provider }: Step, email: string | null): void {
  if (email !== null && isDomainAllowed(provider.settings, email)) return;
  throw new SignOnError('DOMAIN_NOT_ALLOWED');
}

async function linkByEmail(step: Step): Promise<Linked> {
  const { services, tx, provider, identity, enterpriseId, address } = step;
  const { email, issuer, subject } = identity;
  if (email === null || !identity.isEmailVerified) throw new SignOnError('UNVERIFIED_EMAIL');
  requireDomain(step, email);
  const existing = await findByEmail(tx, enterpriseId, email);
  const user = existing ?? (await createUser(step, email));
  const identityId = newId();
  const createdAt = services.now();
  const inserted = await tx.query(
    `insert into user_identity (id, enterprise_id, user_id, provider_id, issuer, subject, created_at, last_sign_in_at)
     values ($1, $2, $3, $4, $5, $6, $7::timestamptz, $7::timestamptz) on conflict do nothing returning id`,
    [identityId, enterpriseId, user.id, provider.settings.id, issuer, subject, createdAt],
  );
  // The address was given to another person at the provider.
  if (inserted.length === 0) throw new SignOnError('OTHER_IDENTITY');
  const data = { provider: provider.settings.id, isLinked: true };
  await audit({ ...services, viewer: actAs(user), address }, tx, 'update_member', {
    organizationId: null,
    targetId: user.id,
    data,
  });
  return { user, identityId };
}

async function findByEmail(tx: Transaction, enterpriseId: string, email: string): Promise<LinkedUser | null> {
  const [user] = await tx.query<FoundUser>(
    `select ${foundColumns} from user_account u
      where u.enterprise_id = $1 and lower(u.email) = lower($2) and u.deleted_at is null for no key update`,
    [enterpriseId, email],
  );
  return user === undefined ? null : requireActive(user);
}

async function createUser(step: Step, email: string): Promise<LinkedUser> {
  const { services, tx, provider, identity, enterpriseId, address } = step;
  const created = { id: newId(), enterpriseId, email, name: identity.name };
  const inserted = await tx.query(
    `insert into user_account (id, enterprise_id, email, name, created_at) values ($1, $2, $3, $4, $5::timestamptz)
     on conflict do nothing returning id`,
    [created.id, enterpriseId, email, identity.name, services.now()],
  );
  if (inserted.length === 0) {
    const other = await findByEmail(tx, enterpriseId, email);
    if (other === null) throw new Error('A user with this email address was created and deleted meanwhile.');
    return other;
  }
  const role = await assignDefaultRole(step, created.id);
  const data = { provider: provider.settings.id, ...(role !== null && { role: role.roleId }) };
  await audit({ ...services, viewer: actAs(created), address }, tx, 'add_member', {
    organizationId: role?.organizationId ?? null,
    targetId: created.id,
    data,
  });
  return created;
}

async function assignDefaultRole({ services, tx, provider, enterpriseId }: Step, userId: string) {
  const { defaultRole, id: providerId } = provider.settings;
  if (defaultRole === undefined) return null;
  const { organizationId: configured } = defaultRole;
  const organizationId = configured === undefined ? null : (parseId('organization', configured) ?? configured);
  const assigned = await tx.query<{ roleId: string; organizationId: string | null }>(
    `insert into role_assignment (id, enterprise_id, organization_id, user_id, role_id, created_at)
     select $1, $2, o.id, $3, r.id, $6::timestamptz from role r left join organization o on o.id = $4 and o.enterprise_id = $2
      where r.id = $5 and (r.enterprise_id is null or r.enterprise_id = $2) and o.deleted_at is null
        and r.scope = case when o.id is null then 'enterprise' else 'organization' end
        and ($4::text is null) = (o.id is null)
     returning role_id as "roleId", organization_id as "organizationId"`,
    [newId(), enterpriseId, userId, organizationId, parseId('role', defaultRole.roleId), services.now()],
  );
  const [role] = assigned;
  if (role !== undefined) return role;
  services.log.error(
    { provider: providerId },
    'The default role of an identity provider, or its organization, does not exist.',
  );
  return null;
}

async function storeSignIn({ services, tx, provider, identity }: Step, { identityId }: Linked): Promise<void> {
  const groups = identity.groups ?? [];
  const [before] = await tx.query<{ groups: string[] }>('select groups from user_identity where id = $1', [identityId]);
  await tx.query(
    'update user_identity set provider_id = $2, groups = $3::text[], last_sign_in_at = $4::timestamptz where id = $1',
    [identityId, provider.settings.id, groups, services.now()],
  );
  // Sessions and keys that are in use have the roles of the groups before.
  if (before?.groups.join('\n') !== groups.join('\n')) await announceKeyChange(services, tx);
}

async function hasRoles(tx: Transaction, { id }: LinkedUser): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from (${rolesOfUser('$1')}) a left join organization o on o.id = a.organization_id
      where o.deleted_at is null limit 1`,
    [id],
  );
  return rows.length > 0;
}
