import type { ProviderCredential } from '../../../agents/credential.ts';
import type { ProviderFailure } from '../../../agents/provider.ts';
import type { Context } from '../../context.ts';

const write = `
  update provider_key set last_failure = $2::jsonb
   where id = $1 and deleted_at is null and (last_failure is not null or $2::jsonb is not null)`;

/** Records the failure of a stored key. Never throws. */
export function recordFailure(context: Context, keyId: string, failure: ProviderFailure | null): Promise<void> {
  const value = failure && { code: failure.code, message: failure.message, at: context.now().toISOString() };
  return context.store.execute(write, [keyId, value && JSON.stringify(value)]).then(
    () => undefined,
    (err: unknown) => context.log.warn({ err, keyId }, 'The outcome of a call could not be recorded at its key.'),
  );
}

/**
 * Creates a function that records the outcomes of a run's calls at their keys: each failure, and the first success after
 * it or of the run. Never throws.
 */
export function createOutcomeRecorder(
  context: Context,
): (credential: ProviderCredential, failure: ProviderFailure | null) => void {
  const good = new Set<string>();
  return ({ keyId }, failure) => {
    if (keyId === null || (failure === null && good.has(keyId))) return;
    if (failure === null) good.add(keyId);
    else good.delete(keyId);
    void recordFailure(context, keyId, failure);
  };
}
