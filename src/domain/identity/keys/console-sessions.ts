import { newConsoleCode } from '../../../auth/tokens.ts';
import { DomainError } from '../../../common/errors.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import { type LinkUse, spendConsoleLink } from './console-links.ts';
import { announceKeyChange } from './key-changes.ts';

/** Lifetime of a console sign-in. */
export const consoleSessionMs = 7 * 24 * 60 * 60 * 1_000;
/** Maximum number of concurrent console sessions of a key: a further sign-in ends the oldest one. */
export const maxConsoleSessions = 20;

/** A browser that is signed in. */
export interface ConsoleSession {
  /** For its cookie. It is only in this result. */
  readonly code: string;
  /** For its pages, which send it with every request; without it the cookie gives no access. Stored as a hash only. */
  readonly pageSecret: string;
  readonly expiresAt: Date;
}

/** A session that has ended. */
export interface EndedConsoleSession {
  /** The identity provider that the user signed in with; null: a key did. */
  readonly providerId: string | null;
}

/**
 * Signs a browser in with the viewer's key: it acts with that key's permissions, and no longer than the key is valid.
 * Throws FORBIDDEN for a viewer that is a console session itself: a session never creates another. `link`: the link that
 * the browser uses up; null: it has sent the token itself, which also confirms the sign-in. Throws UNAUTHENTICATED if
 * another browser has used the link meanwhile.
 */
export async function createConsoleSession(context: Context, link: LinkUse | null = null): Promise<ConsoleSession> {
  const { viewer, keyring, now } = context;
  const { apiKeyId } = viewer;
  if (apiKeyId === null || viewer.consoleSessionId !== undefined) {
    throw new DomainError('FORBIDDEN', 'Signing in needs a token.');
  }
  const [code, pageSecret] = [newConsoleCode(), newConsoleCode()];
  const createdAt = now();
  const maxExpiresAt = new Date(createdAt.getTime() + consoleSessionMs);
  const expiresAt = viewer.expiresAt && viewer.expiresAt < maxExpiresAt ? viewer.expiresAt : maxExpiresAt;
  await context.store.transact(async (tx) => {
    if (link !== null) await spendConsoleLink(context, tx, link);
    await tx.query(
      `insert into console_session (id, token_hash, page_secret_hash, api_key_id, created_at, expires_at, confirmed_at, console_link_id)
       values ($1, $2, $3, $4, $5::timestamptz, $6::timestamptz, $7::timestamptz, $8)`,
      [
        newId(),
        keyring.hashToken(code),
        keyring.hashToken(pageSecret),
        apiKeyId,
        createdAt,
        expiresAt,
        link === null ? createdAt : null,
        link?.id ?? null,
      ],
    );
    const ended = await tx.query(
      `delete from console_session where id in (
         select id from console_session where api_key_id = $1 order by created_at desc, id desc offset ${maxConsoleSessions})
       returning id`,
      [apiKeyId],
    );
    const data = { kind: viewer.keyKind };
    await audit(context, tx, 'login', { organizationId: viewer.homeOrganizationId, targetId: apiKeyId, data });
    if (ended.length > 0) await announceKeyChange(context, tx);
  });
  return { code, pageSecret, expiresAt };
}

/**
 * Signs out the browser that has a page secret: both halves become invalid, and its sockets and streams close. The page
 * secret is enough, since another server of the host may have overwritten the cookie; the cookie is not, since any such
 * server may know it. Returns null if there is no such session.
 */
export async function endConsoleSession(
  services: Pick<Context, 'store' | 'keyring' | 'notifier'>,
  pageSecret: string,
): Promise<EndedConsoleSession | null> {
  return services.store.transact(async (tx) => {
    const [ended] = await tx.query<EndedConsoleSession>(
      `delete from console_session c where c.page_secret_hash = any($1)
       returning (select i.provider_id from user_identity i where i.id = c.user_identity_id) as "providerId"`,
      [services.keyring.tokenHashes(pageSecret)],
    );
    if (ended !== undefined) await announceKeyChange(services, tx);
    return ended ?? null;
  });
}

/** Deletes console sessions and links that are over, and sessions of revoked keys and deleted users. */
export async function forgetConsoleSessions(services: Pick<Context, 'store' | 'now'>): Promise<void> {
  await services.store.execute('delete from console_link where expires_at <= $1', [services.now()]);
  await services.store.execute(
    `delete from console_session c where c.expires_at <= $1
        or exists (select 1 from api_key k where k.id = c.api_key_id and k.revoked_at is not null)
        or exists (select 1 from user_account u where u.id = c.user_id and u.deleted_at is not null)`,
    [services.now()],
  );
}
