import type { Context } from '../../../domain/context.ts';
import { findNames } from '../../../domain/identity/people/find-people.ts';
import { listLog } from '../../../domain/sessions/list-log.ts';
import type { LogEntry } from '../../../domain/sessions/log.ts';
import type { SessionRecord } from '../../../domain/sessions/session.ts';
import { Reply } from '../../../http/reply.ts';
import { presentHead, presentMessage } from './session-shapes.ts';

const firstBatch = 20;
const largestBatch = 500;
/** The target size of a batch, in characters of JSON: long messages make batches smaller. */
const batchLength = 1_048_576;

/**
 * Streams the details of a session with all of its messages, which are read and written in keyset batches. Memory holds
 * one batch, regardless of the length of the session. The first batch is read before the response begins, so that its
 * failure is still an error with a status.
 */
export async function streamDetails(context: Context, session: SessionRecord): Promise<Reply> {
  const batches = messageBatches(context, session);
  const first = await batches.next();
  const head = JSON.stringify(presentHead(context, session)).slice(0, -1);
  const opening = `${head},"messages":[${first.value ?? ''}`;
  const headers = { 'content-type': 'application/json' };
  const second = await batches.next();
  if (second.done) return new Reply(200, headers, `${opening}]}`);

  const encoder = new TextEncoder();
  let next: string | null = `${opening},${second.value}`;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (next === null) return;
        controller.enqueue(encoder.encode(next));
        try {
          const batch = await batches.next();
          next = batch.done ? null : `,${batch.value}`;
        } catch (error) {
          context.log.error(
            { err: error, sessionId: session.id },
            'The messages of a session could not be read completely.',
          );
          controller.error(error);
          return;
        }
        if (next !== null) return;
        controller.enqueue(encoder.encode(']}'));
        controller.close();
      },
      cancel: () => {
        next = null;
      },
    },
    { highWaterMark: 0 },
  );
  return new Reply(200, headers, stream);
}

// The messages as JSON, separated by commas, one batch at a time.
async function* messageBatches(context: Context, session: SessionRecord): AsyncGenerator<string, undefined> {
  const names = new Map<string, { name: string; email: string | null }>();
  const resolvedAuthors = new Set<string>();
  let after: string | null = null;
  let size = firstBatch;
  for (;;) {
    const request = { messagesOnly: true, isCurrent: true, first: size, after };
    const page = await listLog(context, session, request, { max: largestBatch, default: firstBatch });
    const unknown = page.items.filter((entry) => !resolvedAuthors.has(authorOf(entry)));
    for (const entry of unknown) resolvedAuthors.add(authorOf(entry));
    if (unknown.length > 0) for (const [id, name] of await findNames(context, unknown)) names.set(id, name);
    const json = page.items.map((entry) => JSON.stringify(presentMessage(entry, session, names))).join(',');
    if (json !== '') yield json;
    const last = page.items.at(-1);
    if (!page.hasNextPage || !last) return undefined;
    after = page.cursorOf(last);
    size = Math.min(largestBatch, Math.max(1, Math.floor((page.items.length * batchLength) / json.length)));
  }
}

// '' for the agent, which has no name to load.
const authorOf = (entry: LogEntry) => entry.userId ?? entry.serviceUserId ?? '';
