import { createHash } from 'node:crypto';
import type { Transaction } from '../store/store.ts';
import type { Context } from './context.ts';
import { DomainError, refuse } from './errors.ts';

/** How long a key is remembered. */
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

/** INVALID_INPUT unless the key keeps {@link idempotencyKeyLimits}. */
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

/**
 * Claims (organization, principal, operation, key) for this transaction, with `resultId` as the result. A second caller
 * waits in the unique index until the first has committed, and then gets its result, or IDEMPOTENCY_CONFLICT when its
 * input differs. The input is stored as an HMAC under the pepper, since it can hold secrets.
 */
export async function claimIdempotencyKey(
  context: Context,
  tx: Transaction,
  claim: { organizationId: string; operation: string; key: string; input: unknown; resultId: string },
): Promise<IdempotencyClaim> {
  const { viewer } = context;
  const inputHash = context.keyring.hashToken(createHash('sha256').update(canonicalJson(claim.input)).digest('hex'));
  const scope = [claim.organizationId, `${viewer.principal.type}:${viewer.principal.id}`, claim.operation, claim.key];
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
  const [first] = await tx.query<{ inputHash: string; resultId: string }>(
    `select input_hash as "inputHash", result_id as "resultId" from idempotency_key
      where organization_id = $1 and principal = $2 and operation = $3 and key = $4`,
    scope,
  );
  if (first?.inputHash !== inputHash) {
    throw new DomainError('IDEMPOTENCY_CONFLICT', 'This idempotency key was already used with other input.');
  }
  return { replay: first.resultId };
}

/** How a thing is made, beside what it is made from. */
export interface CreateOptions {
  readonly idempotencyKey?: string | null | undefined;
  /** Is told whether the key's first call had been carried out before. Not called without a key. */
  readonly onClaim?: ((wasReplayed: boolean) => void) | undefined;
}

/**
 * First in the transaction of a creation that may have a key: the id of what the first call under it has made; null when this
 * is the first, or without a key. `scope`: the organization, or the enterprise. INVALID_INPUT, IDEMPOTENCY_CONFLICT.
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

/** Deletes the keys that are past {@link idempotencyRetentionMs}; gives how many. */
export async function forgetIdempotencyKeys(services: Pick<Context, 'store' | 'now'>): Promise<number> {
  const rows = await services.store.execute(
    'delete from idempotency_key where created_at < $1 returning 1 as deleted',
    [new Date(services.now().getTime() - idempotencyRetentionMs)],
  );
  return rows.length;
}
