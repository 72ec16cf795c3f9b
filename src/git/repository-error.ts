/**
 * The cause of a failed clone. `NO_REF`: the repository has no such branch, tag or commit. `REMOTE`: the forge, or the
 * gateway to it, refused or could not be reached. `TOO_LARGE`, `DISK_FULL`: it exceeds a limit of this machine.
 * `TIMEOUT`: it took too long. `REFUSED_CONTENT`: git refuses its objects or its files. `NO_GIT`: this machine has no
 * git. `STOPPED`: the caller aborted it.
 */
export type RepositoryErrorCode =
  | 'NO_REF'
  | 'REMOTE'
  | 'TOO_LARGE'
  | 'DISK_FULL'
  | 'TIMEOUT'
  | 'REFUSED_CONTENT'
  | 'NO_GIT'
  | 'STOPPED';

/** A repository that could not be cloned. The message is a sentence for users without a secret; it may quote the forge. */
export class RepositoryError extends Error {
  readonly code: RepositoryErrorCode;
  constructor(code: RepositoryErrorCode, message: string) {
    super(message);
    this.name = 'RepositoryError';
    this.code = code;
  }
}
