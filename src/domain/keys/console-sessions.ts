import { newConsoleCode } from '../../auth/tokens.ts';
import { audit } from '../audit.ts';
import type { Context } from '../context.ts';
import { DomainError } from '../errors.ts';
import { newId } from '../ids.ts';
import { announceKeyChange } from './key-changes.ts';

/** How long a browser stays signed in. */
export const consoleSessionMs = 7 * 24 * 60 * 60 * 1_000;
/** How long a link that signs in is good. */
export const consoleLinkMs = 15 * 60 * 1_000;
/** A key may be signed in this often at once: with one more, the oldest session ends. */
export const mostConsoleSessions = 20;

/** A browser that is signed in. */
export interface ConsoleSession {
  /** For its cookie: it is here and nowhere else. */
  readonly code: string;
  readonly expiresAt: Date;
}

/**
 * Signs a browser in with the key of the viewer: it acts with that key's rights, and no longer than the key lasts.
 * FORBIDDEN for who is signed in already, and so has no key at hand: a session never makes another.
 */
export async function createConsoleSession(context: Context): Promise<ConsoleSession> {
  const { viewer, keyring, now } = context;
  const { apiKeyId } = viewer;
  if (apiKeyId === null || viewer.consoleSessionId !== undefined) {
    throw new DomainError('FORBIDDEN', 'Signing in needs a token.');
  }
  const code = newConsoleCode();
  const createdAt = now();
  const longest = new Date(createdAt.getTime() + consoleSessionMs);
  const expiresAt = viewer.expiresAt && viewer.expiresAt < longest ? viewer.expiresAt : longest;
  await context.store.transact(async (tx) => {
    await tx.query(
      `insert into console_session (id, token_hash, api_key_id, created_at, expires_at)
       values ($1, $2, $3, $4::timestamptz, $5::timestamptz)`,
      [newId(), keyring.hashToken(code), apiKeyId, createdAt, expiresAt],
    );
    const ended = await tx.query(
      `delete from console_session where id in (
         select id from console_session where api_key_id = $1 order by created_at desc, id desc offset ${mostConsoleSessions})
       returning id`,
      [apiKeyId],
    );
    const data = { kind: viewer.keyKind };
    await audit(context, tx, 'login', { organizationId: viewer.homeOrganizationId, targetId: apiKeyId, data });
    if (ended.length > 0) await announceKeyChange(context, tx);
  });
  return { code, expiresAt };
}

/** Signs out: the cookie of the viewer is worth nothing any more, and what it has open is closed. */
export async function deleteConsoleSession(context: Context): Promise<void> {
  const { consoleSessionId } = context.viewer;
  if (consoleSessionId === undefined) return;
  await context.store.transact(async (tx) => {
    await tx.query('delete from console_session where id = $1', [consoleSessionId]);
    await announceKeyChange(context, tx);
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
  const made = await store.execute(
    `insert into console_link (id, code_hash, api_key_id, created_at, expires_at)
     select $1, $2, k.id, $3::timestamptz, $4::timestamptz from api_key k where k.token_hash = any($5) returning id`,
    [newId(), keyring.hashToken(code), createdAt, expiresAt, keyring.tokenHashes(token)],
  );
  return made.length > 0 ? code : null;
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
