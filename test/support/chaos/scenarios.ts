import { randomUUID } from 'node:crypto';

/** Numbers that are the same for the same seed (mulberry32). */
export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number from 0 on, below `limit`. */
  below(limit: number): number;
}

/** Numbers from a seed. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { next, below: (limit) => Math.floor(next() * limit) };
}

/** What happens in a session; the weights are how often in 20. */
export const kinds = {
  /** Works, and is sent follow-ups while it works and after. */
  plain: 9,
  /** The same with the reporting channel: ends with a structured output. */
  reporting: 3,
  /** Asks, and goes on with the answer. */
  asking: 2,
  /** Messages end the turn that runs. */
  steered: 2,
  /** Terminated by its user at work; some of them hang, deaf to all but SIGKILL. */
  terminated: 2,
  /** Put to sleep at work. */
  sleeping: 1,
  /** Its agent ends badly, each time. */
  crashing: 1,
} as const;
/** See {@link kinds}. */
export type Kind = keyof typeof kinds;

/** A message of a user, under a word that nothing else holds. */
export interface UserMessage {
  readonly token: string;
  readonly text: string;
  /** Stays the same when the client has to try again. */
  readonly idempotencyKey: string;
}

/** One session's users. */
export interface Scenario {
  readonly kind: Kind;
  readonly name: string;
  readonly first: UserMessage;
  /** `isAtOnce`: without waiting until the session is over. */
  readonly more: readonly { readonly message: UserMessage; readonly isAtOnce: boolean }[];
  /** Whether a subscriber follows its messages all the while. */
  readonly isFollowed: boolean;
  /** The session's id, once its creation was acknowledged. */
  id: string | null;
  /** What was acknowledged, by its words. */
  readonly acknowledged: Map<string, { readonly seq: number | null }>;
}

/** What all agents say is a word of this form. */
export const tokenForm = /\bt-\d+-\d+\b/g;

/** The agent profile of a kind; null: the default. */
export const agentOf = (kind: Kind): string | null =>
  kind === 'reporting' || kind === 'steered' || kind === 'crashing' ? kind : null;

/** As many stories as wanted, each of some messages. */
export function createScenarios(count: number, random: Random): Scenario[] {
  const deck = Object.entries(kinds).flatMap(([kind, weight]) => Array<Kind>(weight).fill(kind as Kind));
  return Array.from({ length: count }, (_, n) => {
    // The rarer kinds are in every run of some size.
    const kind = deck[(n * 7) % deck.length] as Kind;
    let messageCount = 0;
    const say = (after: string, before = ''): UserMessage => {
      const token = `t-${n}-${messageCount++}`;
      return { token, text: `${before}say ${token}\n${after}`, idempotencyKey: randomUUID() };
    };
    const pause = () => `sleep ${(0.1 + random.next() * 0.7).toFixed(2)}`;
    const firsts = {
      plain: () => say(`write file-${n}.txt ${n}\n${pause()}`),
      reporting: () => say(`json {"n": ${n}}\n${pause()}`),
      asking: () => say(pause(), 'ask Shall I go on?\n'),
      steered: () => say('sleep 2'),
      terminated: () => say(random.next() < 0.5 ? 'hang' : 'sleep 60'),
      sleeping: () => say('sleep 60'),
      crashing: () => say('crash'),
    } as const satisfies Record<Kind, () => UserMessage>;
    const follows = kind === 'plain' || kind === 'reporting' || kind === 'steered' ? 1 + random.below(3) : 0;
    const first = firsts[kind]();
    const more = Array.from({ length: follows }, () => ({ message: say(pause()), isAtOnce: random.next() < 0.5 }));
    return { kind, name: `story ${n}`, first, more, isFollowed: n % 4 === 0, id: null, acknowledged: new Map() };
  });
}
