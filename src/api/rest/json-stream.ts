import type { Context } from '../../domain/context.ts';
import { Reply } from '../../http/reply.ts';

/**
 * Streams one JSON body: the opening text, the batches separated by commas, and the closing text. Memory holds one
 * batch, regardless of the length. The first batch is read before the response begins, so that its failure is still an
 * error with a status. A later failure aborts the transfer and is logged.
 */
export async function streamJson(
  context: Pick<Context, 'log'>,
  { opening, batches, closing }: { opening: string; batches: AsyncGenerator<string, undefined>; closing: string },
): Promise<Reply> {
  const first = await batches.next();
  let next: string | null = opening + (first.value ?? '');
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (next === null) return;
        controller.enqueue(encoder.encode(next));
        try {
          const batch = await batches.next();
          next = batch.done ? null : `,${batch.value}`;
        } catch (error) {
          context.log.error({ err: error }, 'A streamed response could not be read completely.');
          controller.error(error);
          return;
        }
        if (next !== null) return;
        controller.enqueue(encoder.encode(closing));
        controller.close();
      },
      cancel: () => {
        next = null;
      },
    },
    { highWaterMark: 0 },
  );
  return new Reply(200, { 'content-type': 'application/json' }, stream);
}
