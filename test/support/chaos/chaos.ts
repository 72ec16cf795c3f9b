import { setTimeout as wait } from 'node:timers/promises';
import { followMessages, play, type Received } from './clients.ts';
import { ChaosService, type Name } from './service.ts';
import { type Random, type Story, tellStories } from './stories.ts';

/** What is killed, each as often as it says. */
export interface Kills {
  readonly agents: number;
  readonly workers: number;
  readonly server: number;
  /** Stopped for longer than a lease holds, then let go on. */
  readonly freezes: number;
}

/** What was done to a service, and what its clients know. */
export interface Havoc {
  readonly service: ChaosService;
  readonly stories: readonly Story[];
  readonly followed: ReadonlyMap<Story, readonly Received[]>;
  readonly kills: Kills;
  readonly durationMs: number;
}

/** How many sessions have users at once, and how many each worker runs. */
const crowd = 12;
const slots = 4;

/**
 * Plays stories to their ends while processes are killed: each when a share of all that has to happen has happened. Rejects
 * when a client is refused.
 */
export async function wreakHavoc(count: number, wanted: Kills, random: Random): Promise<Havoc> {
  const startedAt = performance.now();
  const stories = tellStories(count, random);
  const service = await ChaosService.start(slots);
  const organizationId = (await service.insist('{ organizations(first: 1) { nodes { id } } }', {})).organizations
    .nodes[0].id as string;
  const followers = new Map<Story, ReturnType<typeof followMessages>>();
  const reaper = createReaper(service, wanted, random, stepsOf(stories));

  const waiting = [...stories];
  const lives = Array.from({ length: crowd }, async () => {
    for (let story = waiting.shift(); story; story = waiting.shift()) {
      const playing = story;
      await reaper.room();
      await play(service, playing, organizationId, () => {
        if (playing.id !== null && playing.isFollowed && !followers.has(playing))
          followers.set(playing, followMessages(service, playing.id));
        reaper.step();
      });
    }
  });
  await Promise.all(lives);
  const kills = await reaper.done();

  const followed = new Map<Story, readonly Received[]>();
  for (const [story, follower] of followers) {
    const { rows } = await service.database.query(
      'select count(*)::int as count from log_entry where session_id = $1 and message_type is not null',
      [bareId(story)],
    );
    await follower.until(rows[0].count);
    followed.set(story, follower.received);
  }
  return { service, stories, followed, kills, durationMs: performance.now() - startedAt };
}

/** A session's id as it is in the database. */
export function bareId({ id }: Story): string {
  return (id ?? '').replace('devin-', '');
}

// What is acknowledged or seen, all in all, unless somebody is asked twice.
function stepsOf(stories: readonly Story[]): number {
  return stories.reduce((sum, { more, kind }) => sum + 2 + more.length + (kind === 'asking' ? 1 : 0), 0);
}

interface Reaper {
  /** Something has happened. */
  step(): void;
  /** Resolves once little is left of what is due: on a slow machine the living wait for the dying. */
  room(): Promise<void>;
  /** Resolves once all is killed that could be, and what was killed is back. */
  done(): Promise<Kills>;
}

function createReaper(service: ChaosService, wanted: Kills, random: Random, steps: number): Reaper {
  const did = { agents: 0, workers: 0, server: 0, freezes: 0 };
  const plan = shuffle(
    (Object.keys(did) as (keyof Kills)[]).flatMap((kind) => Array<keyof Kills>(wanted[kind]).fill(kind)),
    random,
  );
  const each = steps / (plan.length + 1);
  let happened = 0;
  let isEnding = false;
  // One at a time, and never both workers: what is to be killed must be back first.
  let busy: Promise<void> = Promise.resolve();
  let beforeLast = busy;

  // There may be none just now, where a worker has been killed a moment ago.
  const killAgent = async () => {
    for (let n = 0; n < 100 && !isEnding; n++) {
      if (service.killAgent(random)) return true;
      await wait(50);
    }
    return false;
  };

  const strike = async (kind: keyof Kills) => {
    // Not at the very moment of an acknowledgement: before it, in the middle, and after.
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
        busy = busy.then(() => strike(kind));
        // Whoever waits for it hears of it.
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
