import { randomUUID } from 'node:crypto';

/** Random numbers that are the same for the same seed (mulberry32). */
export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** An integer, at least 0 and below `limit`. */
  below(limit: number): number;
}

/** Creates random numbers from a seed. */
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

/** The kinds of scenarios, with their weights out of 20. */
export const kinds = {
  /** Works, and receives follow-ups during the work and after it. */
  plain: 9,
  /** Like plain, over the reporting channel: ends with a structured output. */
  reporting: 3,
  /** Asks a question, and continues after the answer. */
  asking: 2,
  /** Messages end the current turn. */
  steered: 2,
  /** Terminated by its user at work; some agents hang and ignore every signal but SIGKILL. */
  terminated: 2,
  /** Suspended at work. */
  sleeping: 1,
  /** The agent crashes in every attempt. */
  crashing: 1,
} as const;
/** See {@link kinds}. */
export type Kind = keyof typeof kinds;

/** A user's message with a unique token. */
export interface UserMessage {
  readonly token: string;
  readonly text: string;
  /** Stays the same when the client retries. */
  readonly idempotencyKey: string;
}

/** The messages of one session's users. */
export interface Scenario {
  readonly kind: Kind;
  readonly name: string;
  readonly first: UserMessage;
  /** `isAtOnce`: sent without waiting until the session is over. */
  readonly more: readonly { readonly message: UserMessage; readonly isAtOnce: boolean }[];
  /** True if a subscriber follows its messages the whole time. */
  readonly isFollowed: boolean;
  /** The session's id, once its creation has been acknowledged. */
  id: string | null;
  /** The acknowledged messages by token. */
  readonly acknowledged: Map<string, { readonly seq: number | null }>;
}

/** The form of the tokens in agents' messages. */
export const tokenForm = /\bt-\d+-\d+\b/g;

/** Returns the agent profile of a kind; null: the default. */
export const agentOf = (kind: Kind): string | null =>
  kind === 'reporting' || kind === 'steered' || kind === 'crashing' ? kind : null;

/** Creates this many scenarios, each with some messages. */
export function createScenarios(count: number, random: Random): Scenario[] {
  const deck = Object.entries(kinds).flatMap(([kind, weight]) => Array<Kind>(weight).fill(kind as Kind));
  return Array.from({ length: count }, (_, n) => {
    // Larger runs include the rarer kinds.
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
