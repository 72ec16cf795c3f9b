/** Words for a client whose request body broke off. */
export const brokenBody = 'The body could not be read to its end.';

/**
 * The parts of a request's body as they arrive. If it breaks off, throws what `refusal` makes of the cause: the client has gone or
 * broke the transfer, and that is no failure of the service to be logged.
 */
export async function* bodyParts(
  { body }: Request,
  refusal: (cause: unknown) => Error,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (!body) return;
  try {
    yield* body as unknown as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw refusal(cause);
  }
}
