/**
 * Reason for which a provider gave no identity. `UNREACHABLE`: it did not answer, or without the metadata that is needed. `DENIED`:
 * it said that the user may not sign in, or the user refused. `INVALID`: its answer failed a check.
 */
export type OidcFailure = 'UNREACHABLE' | 'DENIED' | 'INVALID';

/** A failure of a provider. The message is for the log; it contains no token, code or secret. */
export class OidcError extends Error {
  readonly failure: OidcFailure;

  constructor(failure: OidcFailure, message: string) {
    super(message);
    this.name = 'OidcError';
    this.failure = failure;
  }
}
