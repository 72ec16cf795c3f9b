import { setTimeout as wait } from 'node:timers/promises';
import { followMessages, play, type Received } from './clients.ts';
import { createScenarios, type Random, type Scenario } from './scenarios.ts';
import { ChaosService, type Name } from './service.ts';

/** The number of kills of each kind. */
export interface Kills {
  readonly agents: number;
  readonly workers: number;
  readonly server: number;
  /** Workers frozen for longer than a lease lasts, then resumed. */
  readonly freezes: number;
}

/** The faults that a service had, and the data that its clients received. */
export interface ChaosRun {
  readonly service: ChaosService;
  readonly scenarios: readonly Scenario[];
  readonly followed: ReadonlyMap<Scenario, readonly Received[]>;
  readonly kills: Kills;
  readonly durationMs: number;
}

/** The number of concurrent sessions with users, and of sessions per worker. */
const concurrency = 12;
const slots = 4;

/**
 * Plays scenarios to their ends while processes are killed, evenly spread over the expected number of steps. Rejects when a
 * client is refused.
 */
export async function runChaos(count: number, wanted: Kills, random: Random): Promise<ChaosRun> {
  const startedAt = performance.now();
  const scenarios = createScenarios(count, random);
  const service = await ChaosService.start(slots);
  const organizationId = (await service.queryUntilAccepted('{ organizations(first: 1) { nodes { id } } }', {}))
    .organizations.nodes[0].id as string;
  const followers = new Map<Scenario, ReturnType<typeof followMessages>>();
  const faultInjector = createFaultInjector(service, wanted, random, stepsOf(scenarios));

  const waiting = [...scenarios];
  const lives = Array.from({ length: concurrency }, async () => {
    for (let scenario = waiting.shift(); scenario; scenario = waiting.shift()) {
      const playing = scenario;
      await faultInjector.room();
      await play(service, playing, organizationId, () => {
        if (playing.id !== null && playing.isFollowed && !followers.has(playing))
          followers.set(playing, followMessages(service, playing.id));
        faultInjector.step();
      });
    }
  });
  await Promise.all(lives);
  const kills = await faultInjector.done();

  const followed = new Map<Scenario, readonly Received[]>();
  for (const [scenario, follower] of followers) {
    const { rows } = await service.database.query(
      'select count(*)::int as count from log_entry where session_id = $1 and message_type is not null',
      [bareId(scenario)],
    );
    await follower.waitFor(rows[0].count);
    followed.set(scenario, follower.received);
  }
  return { service, scenarios, followed, kills, durationMs: performance.now() - startedAt };
}

/** Returns a session's id in the database. */
export function bareId({ id }: Scenario): string {
  return (id ?? '').replace('devin-', '');
}

// The number of messages and results that clients will get, without repeated questions.
function stepsOf(scenarios: readonly Scenario[]): number {
  return scenarios.reduce((sum, { more, kind }) => sum + 2 + more.length + (kind === 'asking' ? 1 : 0), 0);
}

interface FaultInjector {
  /** Records that a client got one more message or result. */
  step(): void;
  /** Resolves when few faults are pending: on a slow machine clients wait for the faults. */
  room(): Promise<void>;
  /** Resolves when all possible faults were injected and the killed processes run again. */
  done(): Promise<Kills>;
}

function createFaultInjector(service: ChaosService, wanted: Kills, random: Random, steps: number): FaultInjector {
  const did = { agents: 0, workers: 0, server: 0, freezes: 0 };
  const plan = shuffle(
    (Object.keys(did) as (keyof Kills)[]).flatMap((kind) => Array<keyof Kills>(wanted[kind]).fill(kind)),
    random,
  );
  const each = steps / (plan.length + 1);
  let happened = 0;
  let isEnding = false;
  // One fault at a time, and never both workers: a killed process must run again before the next fault.
  let busy: Promise<void> = Promise.resolve();
  let beforeLast = busy;

  // There may be no agent for a moment after a worker was killed.
  const killAgent = async () => {
    for (let n = 0; n < 100 && !isEnding; n++) {
      if (service.killAgent(random)) return true;
      await wait(50);
    }
    return false;
  };

  const injectFault = async (kind: keyof Kills) => {
    // Not exactly at an acknowledgement: also before it and during the work.
    await wait(random.next() * 600);
    const worker: Name = random.next() < 0.5 ? 'worker one' : 'worker two';
    if (kind === 'agents' && !(await killAgent())) return;
    if (kind === 'workers') await service.kill(worker);
    if (kind === 'server') await service.kill('server');
    if (kind === 'freezes') await service.freeze(worker);
    did[kind] += 1;
  };
  return {
    step() {
      happened += 1;
      while (plan.length > 0 && happened > steps - each * plan.length) {
        const kind = plan.shift() as keyof Kills;
        beforeLast = busy;
        busy = busy.then(() => injectFault(kind));
        // Callers that await it get the error.
        busy.catch(() => undefined);
      }
    },
    room: () => beforeLast,
    async done() {
      isEnding = true;
      await busy;
      return did;
    },
  };
}

function shuffle<T>(items: T[], random: Random): T[] {
  for (let n = items.length - 1; n > 0; n--) {
    const other = random.below(n + 1);
    [items[n], items[other]] = [items[other] as T, items[n] as T];
  }
  return items;
}
