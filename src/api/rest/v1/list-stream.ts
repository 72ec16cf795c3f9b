import type { Context } from '../../../domain/context.ts';
import type { Page, PageRequest } from '../../../domain/pages.ts';
import type { Reply } from '../../../http/reply.ts';
import { streamJson } from '../json-stream.ts';

const firstBatch = 20;
/** The target size of a batch, in characters of JSON: long items make batches smaller. */
const batchLength = 1_048_576;

/** The maximum number of items that {@link streamList} reads at once. */
export const batch = { max: 100, default: firstBatch } as const;

/** A list that is answered in full: the function that reads its pages, and the JSON around its items. */
export interface StreamedList<T> {
  readonly read: (request: PageRequest) => Promise<Page<T>>;
  readonly present: (items: readonly T[]) => Promise<readonly object[]>;
  readonly opening: string;
  readonly closing: string;
}

/** Streams a list that has no pages on the wire, of any length: it is read and written in keyset batches. */
export async function streamList<T>(context: Context, list: StreamedList<T>): Promise<Reply> {
  const { opening, closing } = list;
  return streamJson(context, { opening, closing, batches: readBatches(list) });
}

// The items as JSON, separated by commas, one batch at a time. No batch is empty.
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
