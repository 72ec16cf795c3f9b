import { DomainError } from '../../domain/errors.ts';

/**
 * Makes what turns a BAD_CURSOR into one that names the header `Last-Event-ID`, which stands above the argument `after`: that one
 * may be right, or not there. `what`: the event whose id was expected.
 */
export function refuseLastEventId(what: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof DomainError && error.code === 'BAD_CURSOR')) throw error;
    throw new DomainError(error.code, `"Last-Event-ID" must be the id of ${what}.`);
  };
}
