import { newConsoleCode } from '../../../auth/tokens.ts';
import type { Identity } from '../../../oidc/identity.ts';
import type { LogoutToken } from '../../../oidc/logout-token.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Services } from '../../context.ts';
import { newId } from '../../ids.ts';
import { type ConsoleSession, maxConsoleSessions } from '../keys/console-sessions.ts';
import { announceKeyChange } from '../keys/key-changes.ts';
import { actAs, type LinkedUser } from './link-identity.ts';

/** A user who has signed in at an identity provider. */
interface NewUserSession {
  readonly user: LinkedUser;
  readonly identityId: string;
  readonly identity: Identity;
  readonly providerId: string;
  readonly sessionHours: number;
  readonly address: string | null;
}

/**
 * Signs a browser in as a user, without a key. The session ends with the user and with the user's last role, and is confirmed
 * since the time when the user entered credentials at the provider, if the provider says so.
 */
export async function createUserSession(
  services: Services,
  { user, identityId, identity, providerId, sessionHours, address }: NewUserSession,
): Promise<ConsoleSession> {
  const createdAt = services.now();
  return services.store.transact(async (tx) => {
    const session = await insertUserSession(services, tx, {
      userId: user.id,
      identity: { id: identityId, sid: identity.sid },
      createdAt,
      expiresAt: new Date(createdAt.getTime() + sessionHours * 3_600_000),
      confirmedAt: identity.authenticatedAt,
    });
    const viewer = actAs(user);
    await audit({ ...services, viewer, address }, tx, 'login', {
      organizationId: null,
      data: { provider: providerId },
    });
    return session;
  });
}

/** The values of a session of a user. */
interface UserSessionValues {
  readonly userId: string;
  /** The identity that the user signed in with, and the provider's id of the session; null: a link signed in. */
  readonly identity: { readonly id: string; readonly sid: string | null } | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly confirmedAt: Date | null;
}

/** Writes a session that acts as a user. A user has a limited number for each identity, and for links: a further one ends the oldest. */
export async function insertUserSession(
  services: Pick<Services, 'keyring' | 'notifier'>,
  tx: Transaction,
  { userId, identity, createdAt, expiresAt, confirmedAt }: UserSessionValues,
): Promise<ConsoleSession> {
  const { keyring } = services;
  const [code, pageSecret] = [newConsoleCode(), newConsoleCode()];
  const identityId = identity?.id ?? null;
  await tx.query(
    `insert into console_session (id, token_hash, page_secret_hash, user_id, user_identity_id, provider_sid, created_at,
       expires_at, confirmed_at) values ($1, $2, $3, $4, $5, $6, $7::timestamptz, $8::timestamptz, $9::timestamptz)`,
    [
      newId(),
      keyring.hashToken(code),
      keyring.hashToken(pageSecret),
      userId,
      identityId,
      identity?.sid ?? null,
      createdAt,
      expiresAt,
      confirmedAt,
    ],
  );
  const ended = await tx.query(
    `delete from console_session where id in (
       select id from console_session where user_id = $1 and user_identity_id is not distinct from $2
        order by created_at desc, id desc offset ${maxConsoleSessions}) returning id`,
    [userId, identityId],
  );
  if (ended.length > 0) await announceKeyChange(services, tx);
  return { code, pageSecret, expiresAt };
}

/** Ends the sessions that a logout token names. Returns their number. */
export async function endSessionsOfProvider(
  services: Services,
  providerId: string,
  { issuer, subject, sid }: LogoutToken,
): Promise<number> {
  return services.store.transact(async (tx) => {
    const ended = await tx.query(
      `delete from console_session c using user_identity i
        where i.id = c.user_identity_id and i.provider_id = $1 and i.issuer = $2
          and ($3::text is null or i.subject = $3) and ($4::text is null or c.provider_sid = $4) returning c.id`,
      [providerId, issuer, subject, sid],
    );
    if (ended.length > 0) await announceKeyChange(services, tx);
    return ended.length;
  });
}
