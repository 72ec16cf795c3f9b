import { findPrincipalViewer } from '../../../auth/authenticate.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import type { Owner, Viewer } from '../../../auth/viewer.ts';
import { DomainError } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Services } from '../../context.ts';
import { countFailure } from '../../limits/authenticate-limited.ts';
import { type ConsoleSession, consoleSessionMs } from '../keys/console-sessions.ts';
import { requireNotAbove } from '../people/role-assignments.ts';
import { ownerOfUser } from './sign-in-links.ts';
import { requireTokenAllowed } from './token-policy.ts';
import { insertUserSession } from './user-sessions.ts';

const invalidLink =
  'That link isn’t valid. It signs in once, and it may have expired or been revoked. Ask an administrator for a new one.';

const invalid = () => new DomainError('UNAUTHENTICATED', invalidLink);

interface SpentLink extends Owner {
  readonly forUserId: string;
}

// The row is locked until the end: of two concurrent uses, the second finds nothing.
const spend = `
  delete from sign_in_link where code_hash = any($1) and expires_at > $2::timestamptz
  returning for_user_id as "forUserId", user_id as "userId", service_user_id as "serviceUserId", service_key_id as "serviceKeyId"`;

/**
 * Signs a browser in as the user of a link, without a key, and uses the link up. The link is the user's credential, so the sign-in is
 * confirmed: the user can create a personal access token. Throws UNAUTHENTICATED with one message for every link that is not valid;
 * RATE_LIMITED for an address with too many failures; FORBIDDEN for a user who has to sign in at an identity provider. A refused use
 * keeps the link.
 */
export async function useSignInLink(services: Services, code: string, address: string | null): Promise<ConsoleSession> {
  const { now, keyring } = services;
  try {
    return await services.store.transact(async (tx) => {
      const createdAt = now();
      const [link] = await tx.query<SpentLink>(spend, [keyring.tokenHashes(code), createdAt]);
      if (link === undefined) throw invalid();
      const viewer = await findPrincipalViewer({ store: tx, now }, ownerOfUser(link.forUserId), address);
      if (viewer === null) throw invalid();
      await requireCreator(services, tx, link, viewer);
      requireTokenAllowed(services, viewer);
      const session = await insertUserSession(services, tx, {
        userId: link.forUserId,
        identity: null,
        createdAt,
        expiresAt: new Date(createdAt.getTime() + consoleSessionMs),
        confirmedAt: createdAt,
      });
      await audit({ ...services, viewer, address }, tx, 'login', {
        organizationId: null,
        data: { isSignInLink: true },
      });
      return session;
    });
  } catch (error) {
    const isAttempt = error instanceof DomainError && error.code === 'UNAUTHENTICATED';
    throw isAttempt ? await countFailure(services, address, error) : error;
  }
}

// A person who keeps a link must not become more than its creator: the user may have got more permissions since, or the creator lost some.
async function requireCreator(services: Services, tx: Transaction, link: SpentLink, user: Viewer): Promise<void> {
  const { userId, serviceUserId, serviceKeyId } = link;
  const creator = await findPrincipalViewer({ store: tx, now: services.now }, { userId, serviceUserId, serviceKeyId });
  if (creator === null || creator.enterpriseId !== user.enterpriseId) throw invalid();
  if (!creator.enterprisePermissions.has(permissionFor.manageSignInLinks)) throw invalid();
  await requireNotAbove({ ...services, viewer: creator, address: null }, { userId: link.forUserId }, tx).catch(
    (error: unknown) => {
      throw error instanceof DomainError ? invalid() : error;
    },
  );
}
