import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf, requireEnterprisePermission } from '../../auth/viewer.ts';
import { DomainError, notFound, refuse } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import { insertStatement } from '../../store/tables.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { type CreateOptions, findReplay } from '../idempotency.ts';
import { newId, parseId, prefixedId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { isSessionHeld } from './held.ts';
import { type LegalHoldKind, type LegalHoldRecord, legalHoldColumns } from './legal-holds.ts';

/** The values of a new hold in inputs. */
export const legalHoldSchema = z.object({ reason: text('reason', { min: 1, max: 2_000, isBlankRefused: true }) });

/** The target of a hold: exactly one id, in any form. */
export interface LegalHoldTarget {
  readonly sessionId?: string | null | undefined;
  readonly organizationId?: string | null | undefined;
  readonly userId?: string | null | undefined;
}

interface LockedTarget {
  readonly kind: LegalHoldKind;
  readonly id: string;
  /** The organization of the audit entry. */
  readonly organizationId: string | null;
}

// The locks of runs and organizations are those of deletions: one that has begun ends first, and then the target is not found. One that
// begins later finds the hold.
const lockSession = `
  select s.id, s.organization_id as "organizationId" from run r
    join session s on s.id = r.session_id join organization o on o.id = s.organization_id
   where r.session_id = $1 and o.enterprise_id = $2 and o.deleted_at is null for share of r, o`;
const lockOrganization = `
  select o.id, o.id as "organizationId" from organization o
   where o.id = $1 and o.enterprise_id = $2 and o.deleted_at is null for share`;
const lockOrganizations = `
  select o.id from organization o where o.enterprise_id = $1 and o.deleted_at is null order by o.id for share`;
// Also a deleted user: its sessions stay.
const findUser = `
  select u.id, null as "organizationId" from user_account u where u.id = $1 and u.enterprise_id = $2`;

const kinds = {
  sessionId: { kind: 'SESSION', idKind: 'session', sql: lockSession },
  organizationId: { kind: 'ORGANIZATION', idKind: 'organization', sql: lockOrganization },
  userId: { kind: 'USER', idKind: 'user', sql: findUser },
} as const;

/** The kind of the ids of targets of each kind of hold. */
export const idKindOf = { SESSION: 'session', ORGANIZATION: 'organization', USER: 'user' } as const;

/**
 * Puts a hold on a session, on an organization with all it has, or on a user with all of its sessions, of the viewer's enterprise. From the
 * commit on, no deletion of its data begins. Several holds may cover the same data: it is free when all are released. Throws FORBIDDEN,
 * INVALID_INPUT, NOT_FOUND, IDEMPOTENCY_CONFLICT.
 */
export async function createLegalHold(
  context: Context,
  raw: { readonly target: LegalHoldTarget; readonly reason: string },
  options: CreateOptions = {},
): Promise<LegalHoldRecord> {
  const { viewer, store } = context;
  requireEnterprisePermission(viewer, permissionFor.manageLegalHolds);
  const { reason } = parseInput(legalHoldSchema, raw);
  return store.transact(async (tx) => {
    const id = newId();
    const claim = { scope: viewer.enterpriseId, operation: 'createLegalHold', input: raw, resultId: id };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) return readHold(context, tx, replay, '');
    const target = await lockTarget(context, tx, raw.target);
    const hold: LegalHoldRecord = {
      ...{ id, enterpriseId: viewer.enterpriseId, kind: target.kind, targetId: target.id, reason },
      ...ownerOf(viewer),
      ...{ createdAt: context.now(), releasedAt: null },
      ...{ releasedByUserId: null, releasedByServiceUserId: null, releasedByServiceKeyId: null },
    };
    const insert = insertStatement('LegalHold', hold);
    await tx.query(insert.text, insert.values);
    await auditHold(context, tx, 'create_legal_hold', hold, target.organizationId);
    return hold;
  });
}

async function lockTarget(context: Context, tx: Transaction, target: LegalHoldTarget): Promise<LockedTarget> {
  const names = (['sessionId', 'organizationId', 'userId'] as const).filter((name) => target[name] != null);
  const [name] = names;
  if (name === undefined || names.length > 1) {
    throw refuse(['target'], '"target" must be one session, one organization or one user.');
  }
  const { kind, idKind, sql } = kinds[name];
  const { enterpriseId } = context.viewer;
  // A user may have sessions in all of them.
  if (kind === 'USER') await tx.query(lockOrganizations, [enterpriseId]);
  const [found] = await tx.query<Omit<LockedTarget, 'kind'>>(sql, [parseId(idKind, target[name] ?? ''), enterpriseId]);
  if (!found) throw notFound(idKind);
  return { kind, ...found };
}

/**
 * Releases the hold of an id in any form, and returns it. Does nothing if it was released before. From the commit on, its target is deleted
 * as others are, unless another hold covers it. Throws FORBIDDEN, NOT_FOUND.
 */
export async function releaseLegalHold(context: Context, id: string): Promise<LegalHoldRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.manageLegalHolds);
  return context.store.transact(async (tx) => {
    const hold = await readHold(context, tx, parseId('legalHold', id), 'for update');
    if (hold.releasedAt !== null) return hold;
    const { userId, serviceUserId, serviceKeyId } = ownerOf(context.viewer);
    const released = {
      releasedAt: context.now(),
      releasedByUserId: userId,
      releasedByServiceUserId: serviceUserId,
      releasedByServiceKeyId: serviceKeyId,
    };
    await tx.prisma.legalHold.update({ where: { id: hold.id }, data: released, select: { id: true } });
    await auditHold(context, tx, 'release_legal_hold', hold, await organizationOf(tx, hold));
    return { ...hold, ...released };
  });
}

async function readHold(
  { viewer }: Context,
  tx: Transaction,
  id: string | null,
  lock: '' | 'for update',
): Promise<LegalHoldRecord> {
  const [hold] = await tx.query<LegalHoldRecord>(
    `select ${legalHoldColumns} from legal_hold h where h.id = $1 and h.enterprise_id = $2 ${lock}`,
    [id, viewer.enterpriseId],
  );
  if (!hold) throw notFound('legal hold');
  return hold;
}

async function organizationOf(tx: Transaction, { kind, targetId }: LegalHoldRecord): Promise<string | null> {
  if (kind !== 'SESSION') return kind === 'ORGANIZATION' ? targetId : null;
  const session = await tx.prisma.session.findUnique({ where: { id: targetId }, select: { organizationId: true } });
  return session?.organizationId ?? null;
}

// The reason is in the hold itself, which is never deleted.
function auditHold(
  context: Context,
  tx: Transaction,
  action: 'create_legal_hold' | 'release_legal_hold',
  { id, kind, targetId }: LegalHoldRecord,
  organizationId: string | null,
): Promise<void> {
  const data = { kind, held: prefixedId(idKindOf[kind], targetId) };
  return audit(context, tx, action, {
    organizationId,
    ...(kind === 'SESSION' && { sessionId: targetId }),
    targetId: id,
    data,
  });
}

const heldMessage = (what: string) =>
  `A legal hold covers ${what}: nothing of it can be deleted until the hold is released.`;

/** Throws INVALID_STATE if a hold covers a session, which the transaction has locked. */
export async function requireSessionFree(tx: Transaction, sessionId: string): Promise<void> {
  const held = await tx.query(`select 1 from session s where s.id = $1 and ${isSessionHeld}`, [sessionId]);
  if (held.length > 0) throw new DomainError('INVALID_STATE', heldMessage('the session'));
}

const heldInOrganization = `
  select 1 from legal_hold h
   where h.enterprise_id = $2 and h.released_at is null and (h.target_id = $1
      or (h.kind = 'SESSION' and exists (select 1 from session s where s.id = h.target_id and s.organization_id = $1))
      or (h.kind = 'USER' and exists (select 1 from session s where s.organization_id = $1 and s.user_id = h.target_id)))
   limit 1`;

/** Throws INVALID_STATE if a hold covers an organization, which the transaction has locked, or a session in it. */
export async function requireOrganizationFree(
  { viewer }: Context,
  tx: Transaction,
  organizationId: string,
): Promise<void> {
  const held = await tx.query(heldInOrganization, [organizationId, viewer.enterpriseId]);
  if (held.length > 0) throw new DomainError('INVALID_STATE', heldMessage('the organization, or a session in it'));
}
