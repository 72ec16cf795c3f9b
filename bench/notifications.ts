import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Topic } from '../src/realtime/topics.ts';
import type { Bench, Database } from './support/bench.ts';
import type { Row } from './support/measures.ts';

/** Sessions with work in each process, and those of them that the process and another one watch. */
const sessions = { each: 200, watched: 25 } as const;
const counts = [3, 6, 12] as const;
/** Changes of sessions in each process, and the time between two. */
const changes = 1_000;
const everyMs = 6;

/**
 * The notifications that a process receives from others, for 12 processes as a ratio to 3. Each process changes its own 200 sessions, in an
 * organization of its own, and watches as many sessions and organizations whatever the number of processes.
 */
export async function measureNotifications(bench: Bench): Promise<Row[]> {
  const database = await bench.createDatabase();
  const received: number[] = [];
  for (const count of counts) {
    received.push(await receivedEach(bench, database, count));
    bench.progress(`  notifications: ${count} processes receive ${received.at(-1)?.toFixed(0)} each`);
  }
  const note = counts.map((count, n) => `${count} processes: ${received[n]?.toFixed(0)} each`).join('; ');
  return [{ name: 'notifications/growth', value: (received.at(-1) ?? 0) / (received[0] ?? 1), note }];
}

/** Returns the mean of the messages that a process receives. */
async function receivedEach(bench: Bench, database: Database, count: number): Promise<number> {
  const { createNotifier } =
    await bench.importBuilt<typeof import('../src/realtime/create-notifier.ts')>('realtime/create-notifier.ts');
  const pool = new pg.Pool({ connectionString: database.url, max: 4 });
  const log = { warn: (_: object, message: string) => bench.progress(message) };
  const execute = (sql: string, values: readonly unknown[]) => pool.query(sql, [...values]);
  const notifiers = Array.from({ length: count }, () => createNotifier({ databaseUrl: database.url, execute, log }));
  await Promise.all(notifiers.map((notifier) => notifier.start()));
  for (const [n, notifier] of notifiers.entries()) {
    const next = (n + 1) % count;
    for (let session = 0; session < sessions.watched; session++) {
      await listening(notifier, sessionTopic(n, session));
      await listening(notifier, sessionTopic(next, session));
    }
    await listening(notifier, `organization:${next}`);
  }
  const before = notifiers.map((notifier) => notifier.receivedCount());
  const start = performance.now();
  for (let change = 0; change < changes; change++) {
    for (const [n, notifier] of notifiers.entries()) {
      notifier.notify(sessionTopic(n, change % sessions.each));
      notifier.notify(`organization:${n}`);
    }
    await delay(Math.max(0, start + (change + 1) * everyMs - performance.now()));
  }
  // The last message of each reaches all others.
  const last = notifiers.map((notifier) => listening(notifier, 'maintenance'));
  await Promise.all(last);
  const ends = notifiers.map(
    (notifier) => new Promise<void>((resolve) => void notifier.subscribe('maintenance', resolve)),
  );
  notifiers[0]?.notify('maintenance');
  await Promise.all(ends);
  const received = notifiers.map((notifier, n) => notifier.receivedCount() - (before[n] ?? 0));
  await Promise.all(notifiers.map((notifier) => notifier.stop()));
  await pool.end();
  return received.reduce((sum, each) => sum + each, 0) / count;
}

const sessionTopic = (process: number, session: number): Topic =>
  `session:${process}-${String(session).padStart(30, '0')}`;

type Notifier = ReturnType<typeof import('../src/realtime/create-notifier.ts').createNotifier>;

/** Watches a topic. Resolves when nothing can be missed any more. */
function listening(notifier: Notifier, topic: Topic): Promise<void> {
  return new Promise((resolve) => {
    notifier.subscribe(topic, resolve);
    // A channel that is shared with another topic is ready.
    setTimeout(resolve, 50);
  });
}
