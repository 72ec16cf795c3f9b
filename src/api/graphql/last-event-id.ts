import { DomainError } from '../../common/errors.ts';

/**
 * Returns a function that converts a BAD_CURSOR into an error that names the header `Last-Event-ID`. The header takes
 * precedence over the argument `after`, which may be correct or missing. `what`: the event whose id was expected.
 */
export function refuseLastEventId(what: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof DomainError && error.code === 'BAD_CURSOR')) throw error;
    throw new DomainError(error.code, `"Last-Event-ID" must be the id of ${what}.`);
  };
}
