import {
  createViewers,
  followDocument,
  openAudience,
  openBareWs,
  sessionIds,
  startPublisher,
  subscriber,
} from './support/audience.ts';
import type { Bench, Database, Server } from './support/bench.ts';
import { median } from './support/compare.ts';
import type { MeasureName, Row } from './support/measures.ts';
import { isSelected } from './support/options.ts';
import { cpuMs } from './support/processes.ts';
import { topFunctions } from './support/profile.ts';
import { seed } from './support/seed.ts';
import type { Subscriber } from './support/subscribers.ts';

const subscribers = 1_000;
const manySessions = 200;
/** The number of different keys that subscribe; those of one session are all different. */
const viewers = 50;
const body = 'A message as agents write them: a line or two of text that says what was done, and what comes next.';

/** A message to 1,000 subscribers: the server's CPU per delivery, compared with `ws` and a prepared frame. */
export async function measureFanOut(bench: Bench): Promise<Row[]> {
  const database = await bench.createDatabase();
  const server = await bench.startServer(database);
  await seed(database.client, {
    organizationId: server.organizationId,
    sessions: 2 + 2 * manySessions,
    entriesEach: 1,
  });
  const [first = '', second = '', ...others] = await sessionIds(database);
  const rows: Row[] = [];
  const toOne = (url: string, id: string) =>
    Array.from({ length: subscribers }, () => subscriber({ url }, server.token, id));
  if (isSelected(bench.options, 'fan-out/one-session')) {
    rows.push(
      await compareFanOut(bench, 'fan-out/one-session', {
        database,
        server,
        listeners: toOne(server.url, first),
        to: [first],
      }),
    );
    if (bench.options.isProfiled) {
      await profileFanOut(bench, database, { ticks: 200, to: [second], listenersOf: (url) => toOne(url, second) });
    }
  }
  if (isSelected(bench.options, 'fan-out/200-sessions')) {
    const tokens = await createViewers(server, viewers);
    // Each subscriber of a session has its own document and viewer: only the session is shared.
    const toMany = (url: string, ids: readonly string[]) =>
      Array.from({ length: subscribers }, (_, n) =>
        subscriber({ url }, tokens[n % viewers] ?? '', ids[Math.floor(n / 5)] ?? '', followDocument(n)),
      );
    const [compared, profiled] = [others.slice(0, manySessions), others.slice(manySessions)];
    const listeners = toMany(server.url, compared);
    rows.push(await compareFanOut(bench, 'fan-out/200-sessions', { database, server, listeners, to: compared }));
    if (bench.options.isProfiled) {
      await profileFanOut(bench, database, { ticks: 200, to: profiled, listenersOf: (url) => toMany(url, profiled) });
    }
  }
  return rows;
}

interface FanOutSetup {
  readonly database: Database;
  readonly server: Server;
  readonly listeners: readonly Subscriber[];
  /** The sessions that get a message in each round. */
  readonly to: readonly string[];
}

async function compareFanOut(
  bench: Bench,
  name: MeasureName,
  { database, server, listeners, to }: FanOutSetup,
): Promise<Row> {
  const audience = await openAudience(bench, listeners);
  const publisher = await startPublisher(bench, database, { isLazy: true });
  const bare = await openBareWs(bench, listeners.length);
  let frames = 1;
  const variants = [
    { pid: bare.pid, tick: () => bare.send(audience.frame), took: [] as number[] },
    {
      pid: server.pid,
      async tick() {
        frames += 1;
        await publisher.ask({ act: 'publish', sessionIds: to, body });
        await audience.wait(frames);
      },
      took: [] as number[],
    },
  ];
  const roundMs = bench.options.isQuick ? 1_000 : 8_000;
  let deliveries = 0;
  /** Sends messages for a period, and at least three; returns the CPU per delivery in microseconds. */
  const round = async ({ pid, tick }: (typeof variants)[number]): Promise<number> => {
    const [startedAt, before] = [performance.now(), cpuMs(pid)];
    let ticks = 0;
    for (; ticks < 3 || performance.now() - startedAt < roundMs; ticks++) await tick();
    deliveries += ticks * listeners.length;
    return ((cpuMs(pid) - before) * 1_000) / (ticks * listeners.length);
  };
  for (const variant of variants) await round(variant);
  for (let n = 0; n < 3; n++) for (const variant of variants) variant.took.push(await round(variant));
  const [baseline = Number.NaN, own = Number.NaN] = variants.map(({ took }) => median(took));
  bench.progress(`  ${name}: ${own.toFixed(1)} µs for each delivery; bare ws ${baseline.toFixed(1)} µs`);
  return {
    name,
    value: own / baseline,
    note: `${own.toFixed(1)} µs; bare ws ${baseline.toFixed(1)} µs; ${deliveries} deliveries in all`,
  };
}

interface FanOutProfile {
  /** The number of messages that each session gets. */
  readonly ticks: number;
  readonly to: readonly string[];
  readonly listenersOf: (url: string) => readonly Subscriber[];
}

async function profileFanOut(
  bench: Bench,
  database: Database,
  { ticks, to, listenersOf }: FanOutProfile,
): Promise<void> {
  const folder = await bench.createFolder();
  const profiled = await bench.startServer(database, { execArgv: ['--cpu-prof', '--cpu-prof-dir', folder] });
  const audience = await openAudience(bench, listenersOf(profiled.url));
  const publisher = await startPublisher(bench, database, { isLazy: true });
  for (let n = 1; n <= ticks; n++) {
    await publisher.ask({ act: 'publish', sessionIds: to, body });
    await audience.wait(1 + n);
  }
  await profiled.stop();
  bench.progress(`The functions that take the most CPU by themselves, over ${ticks} messages, the start included:`);
  for (const line of await topFunctions(folder)) bench.progress(`  ${line}`);
}
