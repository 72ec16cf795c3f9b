import type { Context } from '../../domain/context.ts';
import type { Page, PageRequest } from '../../domain/pages.ts';

const firstBatch = 20;
/** What a batch aims at, in characters of JSON: long items make batches smaller. */
const batchLength = 1_048_576;

/** The most items that {@link streamList} reads at once. */
export const batch = { max: 100, default: firstBatch } as const;

/** A list that is answered whole: how its pages are read, and what stands around its items in the JSON. */
export interface StreamedList<T> {
  readonly read: (request: PageRequest) => Promise<Page<T>>;
  readonly present: (items: readonly T[]) => Promise<readonly object[]>;
  readonly opening: string;
  readonly closing: string;
}

/**
 * A list without pages on the wire, which may be long: it is read and written in keyset batches, so that the memory of one
 * request is a batch. The first one is read before the answer begins: what fails there is still an error with a status.
 */
export async function streamList<T>(context: Context, list: StreamedList<T>): Promise<Response> {
  const batches = readBatches(list);
  const encoder = new TextEncoder();
  const first = await batches.next();
  const headers = { 'content-type': 'application/json' };
  if (first.done) return new Response(list.opening + list.closing, { headers });

  let next: string | null = list.opening + first.value;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (next === null) return;
        controller.enqueue(encoder.encode(next));
        try {
          const following = await batches.next();
          next = following.done ? null : `,${following.value}`;
        } catch (error) {
          context.log.error({ err: error }, 'A list could not be read to its end.');
          controller.error(error);
          return;
        }
        if (next !== null) return;
        controller.enqueue(encoder.encode(list.closing));
        controller.close();
      },
      cancel: () => {
        next = null;
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { headers });
}

// The items as JSON, comma-separated, a batch at a time; none that is empty.
async function* readBatches<T>({ read, present }: StreamedList<T>): AsyncGenerator<string, undefined> {
  let after: string | null = null;
  let size = firstBatch;
  for (;;) {
    const page: Page<T> = await read({ first: size, after });
    const json = (await present(page.items)).map((item) => JSON.stringify(item)).join(',');
    if (json !== '') yield json;
    const last = page.items.at(-1);
    if (!page.hasNextPage || last === undefined) return undefined;
    after = page.cursorOf(last);
    size = Math.min(batch.max, Math.max(1, Math.floor((page.items.length * batchLength) / json.length)));
  }
}
