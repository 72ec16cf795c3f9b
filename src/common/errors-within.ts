/** Returns an error with its cause, or with the errors that it sums up. Empty for a value that is no error. */
export function errorsWithin(error: unknown): Error[] {
  if (!(error instanceof Error)) return [];
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return [error, ...inner.filter((each): each is Error => each instanceof Error && each !== error)];
}
