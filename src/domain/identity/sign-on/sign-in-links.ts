import { z } from 'zod';
import { findPrincipalViewer } from '../../../auth/authenticate.ts';
import { requireConfirmation } from '../../../auth/confirmation.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { newConsoleCode } from '../../../auth/tokens.ts';
import { endOfKey, type Owner, ownerOf, requireEnterprisePermission } from '../../../auth/viewer.ts';
import { DomainError, notFound, refuse } from '../../../common/errors.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
import { parseInput } from '../../input.ts';
import type { UserRecord } from '../people/find-people.ts';
import { lockPrincipal } from '../people/lock-principal.ts';
import { requireNotAbove, requireOwnReach } from '../people/role-assignments.ts';
import { requireTokenAllowed } from './token-policy.ts';

const dayMs = 24 * 60 * 60 * 1_000;
/** The longest lifetime of a link, and the default. */
const maxDays = 7;
const daysRule = `"expiresInDays" must be a whole number from 1 to ${maxDays}.`;

/** The values of a new link in inputs. */
export const signInLinkSchema = z.object({
  userId: z.string(),
  expiresInDays: z.int(daysRule).min(1, daysRule).max(maxDays, daysRule).nullish(),
});

/** The input of a new link: its user in any form. */
export type CreateSignInLinkInput = z.input<typeof signInLinkSchema>;

/** A link that has not been used. */
export interface SignInLinkRecord extends Owner {
  readonly forUserId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** A user, and the new link. `url` is null if an earlier call with the same idempotency key created it. */
export interface CreatedSignInLink {
  readonly user: UserRecord;
  readonly url: string | null;
}

const insert = `
  insert into sign_in_link as l (for_user_id, enterprise_id, code_hash, user_id, service_user_id, service_key_id, created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7::timestamptz, $8::timestamptz)
  on conflict (for_user_id) do update set code_hash = excluded.code_hash, user_id = excluded.user_id,
    service_user_id = excluded.service_user_id, service_key_id = excluded.service_key_id, created_at = excluded.created_at,
    expires_at = excluded.expires_at
  returning for_user_id`;

/**
 * Creates a link that signs another user in to the console once, and replaces the user's link, if there is one. The viewer must have
 * every permission of the user, also when the link is used. The URL is only in this result. Throws FORBIDDEN, INVALID_INPUT, NOT_FOUND,
 * IDEMPOTENCY_CONFLICT; CONFIRMATION_REQUIRED; FORBIDDEN for a user who has to sign in at an identity provider.
 */
export async function createSignInLink(
  context: Context,
  raw: CreateSignInLinkInput,
  options: CreateOptions = {},
): Promise<CreatedSignInLink> {
  const { viewer, keyring, now } = context;
  requireEnterprisePermission(viewer, permissionFor.manageSignInLinks);
  const input = parseInput(signInLinkSchema, raw);
  requireConfirmation(context);
  return context.store.transact(async (tx) => {
    const { id: userId } = await lockPrincipal(context, tx, { userId: input.userId });
    if (userId === ownerOf(viewer).userId) {
      throw refuse(['userId'], 'A sign-in link is for another user. You are signed in already.');
    }
    await requireNotAbove(context, { userId }, tx);
    // As for a personal access token: the session acts in all organizations of the user.
    if (viewer.keyKind === 'PERSONAL') await requireOwnReach(context, userId, tx);
    const user = await tx.prisma.user.findUniqueOrThrow({ where: { id: userId } });
    const target = await findPrincipalViewer({ store: tx, now }, ownerOfUser(userId));
    if (target === null) throw cannotSignIn(user);
    requireTokenAllowed(context, target);
    const days = input.expiresInDays ?? maxDays;
    const claim = {
      scope: viewer.enterpriseId,
      operation: 'createSignInLink',
      input: { userId, days },
      resultId: userId,
    };
    if ((await findReplay(context, tx, options, claim)) !== null) return { user, url: null };
    const code = newConsoleCode();
    const createdAt = now();
    const latest = new Date(createdAt.getTime() + days * dayMs);
    const end = endOfKey(viewer);
    // A key that expires must not be outlived by a link that it created.
    const expiresAt = end !== null && end < latest ? end : latest;
    const creator = ownerOf(viewer);
    const { serviceUserId, serviceKeyId } = creator;
    const hash = keyring.hashToken(code);
    const { enterpriseId } = viewer;
    const values = [userId, enterpriseId, hash, creator.userId, serviceUserId, serviceKeyId, createdAt, expiresAt];
    await tx.query(insert, values);
    await audit(context, tx, 'create_sign_in_link', {
      organizationId: null,
      targetId: userId,
      data: { expiresAt: expiresAt.toISOString() },
    });
    return { user, url: signInLinkAddress(context.baseUrl, code) };
  });
}

const cannotSignIn = ({ deactivatedAt }: UserRecord) =>
  new DomainError(
    'INVALID_STATE',
    deactivatedAt === null
      ? 'The user has no role and could not sign in.'
      : 'The user is deactivated and could not sign in.',
  );

/** Creates the URL of a link. The code is in the fragment, which browsers don't send and proxies don't log. */
const signInLinkAddress = (baseUrl: string, code: string): string => `${baseUrl}/sign-in#user-link=${code}`;

/** Returns a user as the owner of something. */
export const ownerOfUser = (userId: string): Owner => ({ userId, serviceUserId: null, serviceKeyId: null });

/** Revokes the link of a user, also of one who may do more than the viewer. Throws FORBIDDEN, NOT_FOUND. */
export async function revokeSignInLink(context: Context, id: string): Promise<UserRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.manageSignInLinks);
  return context.store.transact(async (tx) => {
    const { id: userId } = await lockPrincipal(context, tx, { userId: id });
    const deleted = await tx.query(
      'delete from sign_in_link where for_user_id = $1 and expires_at > $2 returning for_user_id',
      [userId, context.now()],
    );
    if (deleted.length === 0) throw notFound('sign-in link');
    await audit(context, tx, 'revoke_sign_in_link', { organizationId: null, targetId: userId });
    return tx.prisma.user.findUniqueOrThrow({ where: { id: userId } });
  });
}

const pending = `
  select l.for_user_id as "forUserId", l.user_id as "userId", l.service_user_id as "serviceUserId", l.service_key_id as "serviceKeyId",
      l.created_at as "createdAt", l.expires_at as "expiresAt"
    from sign_in_link l join user_account u on u.id = l.for_user_id and u.deleted_at is null
   where l.for_user_id = any($1::text[]) and l.enterprise_id = $2 and l.expires_at > $3::timestamptz`;

/** Returns the links of users that can still be used, in the order of their unprefixed ids. Throws FORBIDDEN. */
export async function findSignInLinks(
  { viewer, store, now }: Context,
  userIds: readonly string[],
): Promise<(SignInLinkRecord | null)[]> {
  requireEnterprisePermission(viewer, permissionFor.manageSignInLinks);
  const rows = await store.query<SignInLinkRecord>(pending, [userIds, viewer.enterpriseId, now()]);
  const found = new Map(rows.map((row) => [row.forUserId, row]));
  return userIds.map((id) => found.get(id) ?? null);
}

/** Deletes links that can no longer be used. */
export async function forgetSignInLinks({ store, now }: Pick<Context, 'store' | 'now'>): Promise<void> {
  await store.execute(
    `delete from sign_in_link l where l.expires_at <= $1
        or exists (select 1 from user_account u where u.id = l.for_user_id and u.deleted_at is not null)`,
    [now()],
  );
}
