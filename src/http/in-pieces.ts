/** Bytes that are sent at once: a client is disconnected if it does not take them within 15 seconds. */
const pieceBytes = 65_536;

/** Splits the chunks of a body, so that a slow client is not taken for one that reads nothing (`abortableBody`). */
export function inPieces(): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream<Uint8Array, Uint8Array>(
    {
      transform(chunk, controller) {
        for (let at = 0; at < chunk.byteLength; at += pieceBytes)
          controller.enqueue(chunk.subarray(at, at + pieceBytes));
      },
    },
    undefined,
    { highWaterMark: 0 },
  );
}
