import { newConsoleCode } from '../../../auth/tokens.ts';
import { DomainError } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import { announceKeyChange } from './key-changes.ts';

/** Lifetime of a sign-in link. */
export const consoleLinkMs = 15 * 60 * 1_000;
/** Time for which the tab that used a link may use it again, because the answer was lost: the page was loaded again. */
const repeatMs = 60 * 1_000;

const invalidLink =
  "That link isn't valid. A link signs in once, within 15 minutes. Create a new one, or sign in with a token.";

/** Returns the error for a link that is not valid. */
export const invalidLinkError = (): DomainError => new DomainError('UNAUTHENTICATED', invalidLink);

/** The use of a link by a browser. */
export interface LinkUse {
  readonly id: string;
  /** The random text of the tab, which knows it alone. Null: it cannot repeat the use. */
  readonly attempt: string | null;
}

/** Creates the URL of a sign-in link. The code is in the fragment, which browsers don't send and proxies don't log. */
export const consoleLinkAddress = (baseUrl: string, code: string): string => `${baseUrl}/sign-in#link=${code}`;

/** Creates a code for a link that signs in once, with the key of a token. Returns null if there is no such key. */
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

// $1: the time now; $2: the time after which a use may be repeated; $3: the hashes of the attempt, or null.
const isUsable = `expires_at > $1::timestamptz
  and (used_at is null or (used_at > $2::timestamptz and attempt_hash = any($3::text[])))`;

const usableAt = ({ keyring, now }: Pick<Context, 'keyring' | 'now'>, attempt: string | null) => {
  const at = now();
  return [at, new Date(at.getTime() - repeatMs), attempt === null ? null : keyring.tokenHashes(attempt)] as const;
};

/** Returns the link with a code, and the unprefixed id of its key. Null: the code is wrong, or the link is used or over. */
export async function findConsoleLink(
  services: Pick<Context, 'store' | 'keyring' | 'now'>,
  code: string,
  attempt: string | null,
): Promise<{ readonly id: string; readonly apiKeyId: string } | null> {
  const [link] = await services.store.query<{ id: string; apiKeyId: string }>(
    `select id, api_key_id as "apiKeyId" from console_link where code_hash = any($4::text[]) and ${isUsable}`,
    [...usableAt(services, attempt), services.keyring.tokenHashes(code)],
  );
  return link ?? null;
}

/**
 * Uses a link up. If the same tab used it before, that sign-in ends: its page never got the answer. Throws UNAUTHENTICATED if
 * the link is used.
 */
export async function spendConsoleLink(
  services: Pick<Context, 'keyring' | 'notifier' | 'now'>,
  tx: Transaction,
  { id, attempt }: LinkUse,
): Promise<void> {
  // The row is locked until the end: of two concurrent uses, the second sees the first.
  const spent = await tx.query(
    `update console_link set used_at = coalesce(used_at, $1::timestamptz), attempt_hash = $5 where id = $4 and ${isUsable} returning id`,
    [...usableAt(services, attempt), id, attempt === null ? null : services.keyring.hashToken(attempt)],
  );
  if (spent.length === 0) throw invalidLinkError();
  const ended = await tx.query('delete from console_session where console_link_id = $1 returning id', [id]);
  if (ended.length > 0) await announceKeyChange(services, tx);
}
