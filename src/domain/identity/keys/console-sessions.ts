import { newConsoleCode } from '../../../auth/tokens.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { DomainError } from '../../errors.ts';
import { newId } from '../../ids.ts';
import { announceKeyChange } from './key-changes.ts';

/** How long a browser stays signed in. */
export const consoleSessionMs = 7 * 24 * 60 * 60 * 1_000;
/** How long a link that signs in is good. */
export const consoleLinkMs = 15 * 60 * 1_000;
/** A key may be signed in this often at once: with one more, the oldest session ends. */
export const maxConsoleSessions = 20;

/** A browser that is signed in. */
export interface ConsoleSession {
  /** For its cookie: it is here and nowhere else. */
  readonly code: string;
  /** For its pages, which send it with every request; without it the cookie gives no access. Stored as a hash only. */
  readonly pageSecret: string;
  readonly expiresAt: Date;
}

/**
 * Signs a browser in with the key of the viewer: it acts with that key's rights, and no longer than the key lasts.
 * FORBIDDEN for who is signed in already, and so has no key at hand: a session never makes another. `isConfirmed`: the
 * browser has shown the token itself.
 */
export async function createConsoleSession(
  context: Context,
  { isConfirmed }: { readonly isConfirmed: boolean },
): Promise<ConsoleSession> {
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
    await tx.query(
      `insert into console_session (id, token_hash, page_secret_hash, api_key_id, created_at, expires_at, confirmed_at)
       values ($1, $2, $3, $4, $5::timestamptz, $6::timestamptz, $7::timestamptz)`,
      [
        newId(),
        keyring.hashToken(code),
        keyring.hashToken(pageSecret),
        apiKeyId,
        createdAt,
        expiresAt,
        isConfirmed ? createdAt : null,
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
 * Signs out the browser that has a page secret: both halves are worth nothing any more, and its sockets and streams close.
 * The page secret is enough, since another server of the host may have overwritten the cookie; the cookie is not, since any
 * such server may know it. False where there is no such session.
 */
export async function endConsoleSession(
  services: Pick<Context, 'store' | 'keyring' | 'notifier'>,
  pageSecret: string,
): Promise<boolean> {
  return services.store.transact(async (tx) => {
    const ended = await tx.query('delete from console_session where page_secret_hash = any($1) returning id', [
      services.keyring.tokenHashes(pageSecret),
    ]);
    if (ended.length > 0) await announceKeyChange(services, tx);
    return ended.length > 0;
  });
}

/** Where a link leads: the code is behind the "#", which no browser sends and no proxy logs. */
export const consoleLinkAddress = (baseUrl: string, code: string): string => `${baseUrl}/sign-in#link=${code}`;

/** A code for a link that signs in once, with the key of a token. Null where there is none. */
export async function createConsoleLink(
  services: Pick<Context, 'store' | 'keyring' | 'now'>,
  token: string,
): Promise<string | null> {
  const { store, keyring, now } = services;
  const code = newConsoleCode();
  const createdAt = now();
  const expiresAt = new Date(createdAt.getTime() + consoleLinkMs);
  const created = await store.execute(
    `insert into console_link (id, code_hash, api_key_id, created_at, expires_at)
     select $1, $2, k.id, $3::timestamptz, $4::timestamptz from api_key k where k.token_hash = any($5) returning id`,
    [newId(), keyring.hashToken(code), createdAt, expiresAt, keyring.tokenHashes(token)],
  );
  return created.length > 0 ? code : null;
}

/** The key, by its bare id, that a link signs in with. The link is used up by this. Null for one that is not good. */
export async function redeemConsoleLink(
  services: Pick<Context, 'store' | 'keyring' | 'now'>,
  code: string,
): Promise<string | null> {
  const hashes = services.keyring.tokenHashes(code);
  // One statement: of two that come at once, one finds it.
  const [link] = await services.store.execute<{ apiKeyId: string }>(
    'delete from console_link where code_hash = any($1) and expires_at > $2 returning api_key_id as "apiKeyId"',
    [hashes, services.now()],
  );
  return link?.apiKeyId ?? null;
}

/** Deletes sessions and links that are over, and sessions of keys that have been revoked. */
export async function forgetConsoleSessions(services: Pick<Context, 'store' | 'now'>): Promise<void> {
  await services.store.execute('delete from console_link where expires_at <= $1', [services.now()]);
  await services.store.execute(
    `delete from console_session c where c.expires_at <= $1
        or exists (select 1 from api_key k where k.id = c.api_key_id and k.revoked_at is not null)`,
    [services.now()],
  );
}
