import type { ProviderCredential } from '../credential.ts';
import type { ProviderFailure } from '../provider.ts';

/** Remembers the failure of a turn that every further call would have. */
export interface FailureMonitor {
  /** A turn begins: forgets what was before. */
  begin(): void;
  /** A call failed with this credential; null: there was none. Only the first failure of a turn counts. */
  failed(failure: ProviderFailure, credential: ProviderCredential | null): void;
  /** A call succeeded. */
  succeeded(credential: ProviderCredential): void;
  /** True if a call to the same address has succeeded in this run. */
  hasSucceeded(credential: ProviderCredential): boolean;
  /** The failure of the turn; null: none. */
  last(): ProviderFailure | null;
  /** The failure of this turn with the same key and address, with which a call is refused at once; null: none. */
  find(credential: ProviderCredential): ProviderFailure | null;
  /** Resolves with the failure of this turn. */
  reached(): Promise<ProviderFailure>;
}

/** Creates the monitor of one run. */
export function createFailureMonitor(): FailureMonitor {
  let last: { readonly failure: ProviderFailure; readonly credential: ProviderCredential | null } | null = null;
  /** The address of the last successful call. */
  let goodUrl: string | null = null;
  let resolve: (failure: ProviderFailure) => void = () => undefined;
  let reached = new Promise<ProviderFailure>(() => undefined);
  return {
    begin() {
      last = null;
      reached = new Promise((done) => {
        resolve = done;
      });
    },
    failed(failure, credential) {
      if (last !== null) return;
      last = { failure, credential };
      resolve(failure);
    },
    succeeded({ baseUrl }) {
      goodUrl = baseUrl;
    },
    hasSucceeded: ({ baseUrl }) => goodUrl === baseUrl,
    last: () => last?.failure ?? null,
    find({ key, baseUrl }) {
      const before = last?.credential;
      return last !== null && before?.key === key && before?.baseUrl === baseUrl ? last.failure : null;
    },
    reached: () => reached,
  };
}
