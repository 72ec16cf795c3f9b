import { z } from 'zod';
import type { Context } from '../../context.ts';
import { SignOnError } from './refusals.ts';

/** Lifetime of a sign-in that has begun. */
const transactionMs = 10 * 60 * 1_000;
const boundTo = 'sign-on';

const transactionSchema = z.object({
  providerId: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** The path of this service to show afterwards. */
  returnTo: z.string(),
  /** HMAC of the code in the cookie of the browser. */
  cookieHash: z.string(),
  /** The console session that the sign-in confirms; null: it creates one. */
  confirms: z.string().nullable(),
  createdAt: z.number(),
});

/**
 * A sign-in at an identity provider that has begun. The page that began it keeps it, sealed, in its own storage, and the browser has a
 * cookie that belongs to it: both are needed. The database has nothing of it until it is used.
 */
export type SignOnTransaction = z.output<typeof transactionSchema>;

type Sealing = Pick<Context, 'keyring' | 'now'>;

/** Encrypts a transaction for the page that began it. */
export const sealTransaction = ({ keyring }: Sealing, transaction: SignOnTransaction): string =>
  keyring.seal(JSON.stringify(transaction), boundTo);

/**
 * Returns the transaction that a page sent back, if its browser has the cookie that belongs to it. `state`: from the provider. Throws
 * EXPIRED otherwise.
 */
export function openTransaction(
  { keyring, now }: Sealing,
  sealed: string,
  { cookies, state }: { readonly cookies: readonly string[]; readonly state: string | null },
): SignOnTransaction & { readonly expiresAt: Date } {
  const transaction = unseal(keyring, sealed);
  const expiresAt = new Date((transaction?.createdAt ?? 0) + transactionMs);
  const isOwn = cookies.some((cookie) => keyring.tokenHashes(cookie).includes(transaction?.cookieHash ?? ''));
  if (transaction === null || !isOwn || expiresAt <= now() || transaction.state !== state) {
    throw new SignOnError('EXPIRED');
  }
  return { ...transaction, expiresAt };
}

function unseal(keyring: Sealing['keyring'], sealed: string): SignOnTransaction | null {
  try {
    return transactionSchema.parse(JSON.parse(keyring.open(sealed, boundTo)));
  } catch {
    return null;
  }
}

const maxReturnTo = 1_000;

/** Returns a path of this service to show after a sign-in; `/` for anything that leads elsewhere. */
export function safeReturnTo(value: unknown, baseUrl: string): string {
  if (typeof value !== 'string' || value.length > maxReturnTo || !/^\/(?![/\\])[\x21-\x7e]*$/.test(value)) return '/';
  const base = new URL(baseUrl);
  const url = new URL(value, base);
  const isOwn = url.origin === base.origin && !value.includes('\\') && !url.pathname.startsWith('//');
  return isOwn && !url.pathname.startsWith('/sign-in') ? `${url.pathname}${url.search}${url.hash}` : '/';
}
