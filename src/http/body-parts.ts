/** The message for a client whose request body is incomplete. */
export const brokenBody = 'The body could not be read to its end.';

/**
 * Iterates over the chunks of a request's body. If the body is incomplete, throws the error that `refusal` makes of the
 * cause: the client disconnected or aborted the transfer, which is no failure of the service.
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
