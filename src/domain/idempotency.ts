import { createHash } from 'node:crypto';
import { DomainError, refuse } from '../common/errors.ts';
import type { Transaction } from '../store/store.ts';
import type { Context } from './context.ts';

/** Retention time of a key. */
export const idempotencyRetentionMs = 24 * 60 * 60 * 1_000;

/** JSON with sorted keys and without undefined members: equal inputs give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** The limits of an idempotency key: 1 to 255 printable ASCII characters. */
export const idempotencyKeyLimits = { minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]*$' } as const;

const keySyntax = new RegExp(idempotencyKeyLimits.pattern);

/** Throws INVALID_INPUT unless the key satisfies {@link idempotencyKeyLimits}. */
export function checkIdempotencyKey(key: string): void {
  const { minLength, maxLength } = idempotencyKeyLimits;
  if (key.length < minLength || key.length > maxLength || !keySyntax.test(key)) {
    throw refuse(['idempotencyKey'], 'An idempotency key must be 1 to 255 printable ASCII characters.');
  }
}

/** A claimed key: `replay` is the result of the first call, null when this call is the first. */
export interface IdempotencyClaim {
  readonly replay: string | null;
}

/** An idempotency key with the call that it is of. */
interface UsedKey {
  readonly organizationId: string;
  readonly operation: string;
  readonly key: string;
  readonly input: unknown;
}

const hashInput = ({ keyring }: Context, input: unknown): string =>
  keyring.hashToken(createHash('sha256').update(canonicalJson(input)).digest('hex'));

const scopeOf = ({ viewer: { principal } }: Context, { organizationId, operation, key }: UsedKey): string[] => [
  ...[organizationId, `${principal.type}:${principal.id}`, operation, key],
];

/**
 * Claims (organization, principal, operation, key) for this transaction, with `resultId` as the result. A second caller
 * waits in the unique index until the first has committed, and then gets its result, or IDEMPOTENCY_CONFLICT if its
 * input differs. The input is stored as an HMAC under the pepper, since it can contain secrets.
 */
export async function claimIdempotencyKey(
  context: Context,
  tx: Transaction,
  claim: UsedKey & { readonly resultId: string },
): Promise<IdempotencyClaim> {
  const inputHash = hashInput(context, claim.input);
  const scope = scopeOf(context, claim);
  const now = context.now();
  const inserted = await tx.query(
    `insert into idempotency_key as k (organization_id, principal, operation, key, input_hash, result_id, created_at)
     values ($1, $2, $3, $4, $5, $6, $7::timestamptz)
     on conflict (organization_id, principal, operation, key) do update
       set input_hash = excluded.input_hash, result_id = excluded.result_id, created_at = excluded.created_at
       where k.created_at < $8::timestamptz
     returning result_id`,
    [...scope, inputHash, claim.resultId, now, new Date(now.getTime() - idempotencyRetentionMs)],
  );
  if (inserted.length > 0) return { replay: null };
  const [first] = await tx.query<FirstCall>(firstCall, scope);
  return { replay: resultOf(first, inputHash) };
}

interface FirstCall {
  readonly inputHash: string;
  readonly resultId: string;
  readonly createdAt: Date;
}

const firstCall = `select input_hash as "inputHash", result_id as "resultId", created_at as "createdAt" from idempotency_key
  where organization_id = $1 and principal = $2 and operation = $3 and key = $4`;

function resultOf(first: FirstCall | undefined, inputHash: string): string {
  if (first?.inputHash === inputHash) return first.resultId;
  throw new DomainError('IDEMPOTENCY_CONFLICT', 'This idempotency key was already used with other input.');
}

/** Options of a creation, besides its input. */
export interface CreateOptions {
  readonly idempotencyKey?: string | null | undefined;
  /** Called with true if the key's first call had been executed before. Not called without a key. */
  readonly onClaim?: ((wasReplayed: boolean) => void) | undefined;
}

/**
 * Call this first in the transaction of a creation with an optional key. Returns the id of the object that the key's
 * first call created; null if this is the first call, or without a key. `scope`: the organization, or the enterprise.
 * Throws INVALID_INPUT, IDEMPOTENCY_CONFLICT.
 */
export async function findReplay(
  context: Context,
  tx: Transaction,
  { idempotencyKey: key, onClaim }: CreateOptions,
  { scope, ...claim }: { scope: string; operation: string; input: unknown; resultId: string },
): Promise<string | null> {
  if (key == null) return null;
  checkIdempotencyKey(key);
  const { replay } = await claimIdempotencyKey(context, tx, { organizationId: scope, key, ...claim });
  onClaim?.(replay !== null);
  return replay;
}

/**
 * Returns the id of the object that the key's first call created, outside of a transaction, so that a repeated call can skip
 * what precedes its transaction; null: there is none yet. Calls `onClaim` only for a repeated call. Throws like {@link findReplay},
 * which still has to follow.
 */
export async function findEarlierResult(
  context: Context,
  { idempotencyKey: key, onClaim }: CreateOptions,
  { scope, ...call }: { scope: string; operation: string; input: unknown },
): Promise<string | null> {
  if (key == null) return null;
  checkIdempotencyKey(key);
  const [first] = await context.store.query<FirstCall>(
    firstCall,
    scopeOf(context, { organizationId: scope, key, ...call }),
  );
  const oldestMs = context.now().getTime() - idempotencyRetentionMs;
  if (!first || first.createdAt.getTime() < oldestMs) return null;
  const result = resultOf(first, hashInput(context, call.input));
  onClaim?.(true);
  return result;
}

/** Deletes the keys that are older than {@link idempotencyRetentionMs}. Returns their number. */
export async function forgetIdempotencyKeys(services: Pick<Context, 'store' | 'now'>): Promise<number> {
  const rows = await services.store.execute(
    'delete from idempotency_key where created_at < $1 returning 1 as deleted',
    [new Date(services.now().getTime() - idempotencyRetentionMs)],
  );
  return rows.length;
}
