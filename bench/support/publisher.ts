// Writes messages into logs like a worker on another machine: appends an entry and sends the notification. In a
// separate process, so that its CPU is not counted as the server's. Arguments: the database, a folder for its lock, the
// build whose modules it uses, and the SECRET_KEY.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { serveRequests } from './processes.ts';

/** Its requests. */
export type PublisherRequest =
  /** A message to each of these sessions. */
  | { readonly act: 'publish'; readonly sessionIds: readonly string[]; readonly body: string }
  /**
   * Messages to these sessions in turn, at a rate per second, for a duration; each contains its send time. Returns a
   * {@link StreamResult}.
   */
  | { readonly act: 'stream'; readonly sessionIds: readonly string[]; readonly perSecond: number; readonly ms: number }
  /** Parts of a draft of each of these sessions, at a rate per second for each, for a duration. */
  | { readonly act: 'drafts'; readonly sessionIds: readonly string[]; readonly perSecond: number; readonly ms: number };

const [, , databaseUrl = '', dataDir = '', dist = '', secretKey = ''] = process.argv;
const { appendEntries }: typeof import('../../src/domain/sessions/log.ts') = await import(
  join(dist, 'domain/sessions/log.js')
);
const { createNotifier }: typeof import('../../src/realtime/create-notifier.ts') = await import(
  join(dist, 'realtime/create-notifier.js')
);
const { openStore }: typeof import('../../src/store/store.ts') = await import(join(dist, 'store/store.js'));
const log = {
  warn: (fields: object, message: string) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
  error: (fields: object, message: string) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
};
const store = await openStore({ dataDir, databaseUrl, log });
const notifier = createNotifier({ databaseUrl, execute: (sql, values) => store.execute(sql, values), log });

/** The length of each draft. */
const lengths = new Map<string, number>();

/** Creates the function that sends a part of a draft; here, because an earlier build has none of it. */
async function openDrafts(): Promise<(sessionId: string, draftId: string) => void> {
  const { createBroadcaster }: typeof import('../../src/realtime/create-broadcaster.ts') = await import(
    join(dist, 'realtime/create-broadcaster.js')
  );
  const { writeDraftMessage }: typeof import('../../src/domain/sessions/live/draft-message.ts') = await import(
    join(dist, 'domain/sessions/live/draft-message.js')
  );
  const { createKeyring }: typeof import('../../src/store/cipher.ts') = await import(join(dist, 'store/cipher.js'));
  const { messageKey: keyOf } = createKeyring({ secretKey, previousSecretKey: null });
  const execute = (sql: string, values: readonly unknown[]) => store.execute(sql, values);
  const broadcaster = createBroadcaster({ databaseUrl, execute, keyOf, log });
  return (sessionId, draftId) => {
    const offset = lengths.get(draftId) ?? 0;
    const text = `${offset}: some words of a message, as a model writes them in 50 ms. `;
    lengths.set(draftId, offset + text.length);
    const rest = { toolCallId: null, version: 0, isDone: false, isTruncated: false } as const;
    const message = { generation: 1, draftId, kind: 'message', offset, text, ...rest } as const;
    broadcaster.publish('draft', sessionId, writeDraftMessage(message));
  };
}

async function sendDrafts(sessionIds: readonly string[], perSecond: number, ms: number): Promise<null> {
  drafts ??= openDrafts();
  const publishPart = await drafts;
  const startedAt = performance.now();
  // New drafts each time: the service discards those that have been silent for long.
  const draftIds = sessionIds.map(() => randomUUID().replaceAll('-', ''));
  // One after the other: the sessions of a worker send at different times.
  for (let sent = 0; performance.now() - startedAt < ms; ) {
    const due = ((performance.now() - startedAt) / 1_000) * perSecond * sessionIds.length;
    for (; sent < due; sent++) {
      const n = sent % sessionIds.length;
      publishPart(sessionIds[n] as string, draftIds[n] as string);
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return null;
}

let drafts: ReturnType<typeof openDrafts> | null = null;

async function publish(sessionId: string, body: string): Promise<void> {
  await appendEntries(store, sessionId, null, [{ kind: 'MESSAGE', messageType: 'agent_message', body }], new Date());
  notifier.notify(`session:${sessionId}`);
}

/** The number of messages sent, and the 99th percentile of their write times. */
export interface StreamResult {
  readonly sent: number;
  readonly appendP99Ms: number;
}

async function stream(sessionIds: readonly string[], perSecond: number, ms: number): Promise<StreamResult> {
  const sending: Promise<number>[] = [];
  const send = async (sessionId: string) => {
    const sentAt = performance.now();
    await publish(sessionId, `sent:${process.hrtime.bigint()}; and some words, as messages have them.`);
    return performance.now() - sentAt;
  };
  const startedAt = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = Math.min(ms, performance.now() - startedAt);
      while (sending.length < (elapsed * perSecond) / 1_000) {
        const sessionId = sessionIds[sending.length % sessionIds.length] as string;
        sending.push(send(sessionId));
      }
      if (elapsed < ms) return;
      clearInterval(timer);
      resolve();
    }, 1);
  });
  const took = (await Promise.all(sending)).sort((a, b) => a - b);
  return { sent: took.length, appendP99Ms: took[Math.ceil(0.99 * took.length) - 1] ?? Number.NaN };
}

let started: Promise<void> | null = null;
serveRequests<PublisherRequest>(async (request) => {
  started ??= notifier.start();
  await started;
  if (request.act === 'drafts') return sendDrafts(request.sessionIds, request.perSecond, request.ms);
  if (request.act === 'stream') return stream(request.sessionIds, request.perSecond, request.ms);
  await Promise.all(request.sessionIds.map((id) => publish(id, request.body)));
  return null;
});
