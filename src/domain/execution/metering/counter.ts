import type { AgentUpdate } from '../../../agents/agent.ts';
import type { Measured } from '../../metering-rates.ts';

/** A usage report of an agent, its gateway or its response. */
export type UsageUpdate = Extract<AgentUpdate, { type: 'usage' }>;

const counted = ['llmCalls', 'inputTokens', 'outputTokens', 'cachedTokens'] as const;
const nothing: Measured = {
  activeMs: 0,
  llmCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  costUsd: 0,
};

/** Limits on an agent's reports: the maximum of one update. */
const maxTokens = 1_000_000_000;
const maxUsd = 10_000;

/** The usage of a stored provider key. */
export interface KeyUse {
  readonly calls: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

/** Sums the usage of one run of a session. */
export interface Counter {
  /** The agent is active from now on. Idempotent. */
  start(): void;
  /** The agent is no longer active: its turn is over, or it waits for the user. Idempotent. */
  stop(): void;
  add(update: UsageUpdate): void;
  /** The usage in this run so far. */
  total(): Measured;
  /** The usage of each stored key in this run so far, by id. */
  keys(): ReadonlyMap<string, KeyUse>;
  /** The source of the token counts; null: none yet. */
  source(): UsageUpdate['source'] | null;
  /** The total cost of the agent's own session, as last reported. */
  agentCostUsd(): number;
  /** Sets the total cost of the agent's session at its last metering, for a new or resumed session. */
  setAgentCostUsd(costUsd: number): void;
}

/**
 * A counter that has counted nothing. Once the gateway has counted, the agent's own figures do not count: they leave calls
 * out (docs/agents.md#differences-in-acp). An agent reports its cost as a total: only the increase counts.
 */
export function createCounter(now: () => number = () => performance.now()): Counter {
  const sum = { ...nothing };
  const keys = new Map<string, KeyUse>();
  let since: number | null = null;
  let source: UsageUpdate['source'] | null = null;
  let hasGatewayCost = false;
  let agentCostUsd = 0;

  const settle = () => {
    if (since === null) return;
    const at = now();
    sum.activeMs += at - since;
    since = at;
  };
  const addTokens = (update: UsageUpdate) => {
    const { inputTokens, outputTokens, totalTokens } = update;
    if (update.llmCalls === null && inputTokens === null && outputTokens === null && totalTokens === null) return;
    if (source === 'gateway' && update.source !== 'gateway') return;
    source = update.source;
    const rest = totalTokens === null ? null : totalTokens - (outputTokens ?? 0);
    const used = { ...update, inputTokens: inputTokens ?? rest };
    for (const name of counted) sum[name] += Math.round(within(used[name], maxTokens));
  };
  const addKeyUse = (update: UsageUpdate) => {
    const { providerKeyId: id } = update;
    if (id === undefined) return;
    const before = keys.get(id) ?? unusedKey;
    const added = (name: 'inputTokens' | 'cachedTokens' | 'outputTokens') =>
      before[name] + Math.round(within(update[name], maxTokens));
    keys.set(id, {
      calls: before.calls + 1,
      inputTokens: added('inputTokens'),
      cachedTokens: added('cachedTokens'),
      outputTokens: added('outputTokens'),
      costUsd: before.costUsd + within(update.costUsd, maxUsd),
    });
  };
  const addCost = ({ source: from, costUsd }: UsageUpdate) => {
    if (costUsd === null) return;
    if (from === 'gateway') {
      hasGatewayCost = true;
      sum.costUsd += within(costUsd, maxUsd);
      return;
    }
    const grown = costUsd - agentCostUsd;
    agentCostUsd = within(costUsd, Number.MAX_SAFE_INTEGER);
    if (!hasGatewayCost) sum.costUsd += within(grown, maxUsd);
  };

  return {
    start() {
      since ??= now();
    },
    stop() {
      settle();
      since = null;
    },
    add(update) {
      addTokens(update);
      addKeyUse(update);
      addCost(update);
    },
    total() {
      settle();
      return { ...sum, activeMs: Math.floor(sum.activeMs) };
    },
    keys: () => keys,
    source: () => source,
    agentCostUsd: () => agentCostUsd,
    setAgentCostUsd(costUsd) {
      agentCostUsd = costUsd;
    },
  };
}

function within(value: number | null, max: number): number {
  return value === null || Number.isNaN(value) ? 0 : Math.min(Math.max(value, 0), max);
}

/** Returns the usage between two totals. */
export function difference(later: Measured, earlier: Measured): Measured {
  const names = Object.keys(nothing) as (keyof Measured)[];
  return Object.fromEntries(names.map((name) => [name, later[name] - earlier[name]])) as unknown as Measured;
}

/** The usage at the beginning of a run. */
export const nothingUsed: Measured = nothing;

const unusedKey: KeyUse = { calls: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costUsd: 0 };

/** Returns the usage of keys between two totals; keys without usage are left out. */
export function keyDifference(
  later: ReadonlyMap<string, KeyUse>,
  earlier: ReadonlyMap<string, KeyUse>,
): (KeyUse & { readonly keyId: string })[] {
  // In the order of their ids, in which their rows are locked.
  const entries = [...later].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return entries.flatMap(([keyId, use]) => {
    const before = earlier.get(keyId) ?? unusedKey;
    if (use.calls === before.calls) return [];
    return {
      keyId,
      calls: use.calls - before.calls,
      inputTokens: use.inputTokens - before.inputTokens,
      cachedTokens: use.cachedTokens - before.cachedTokens,
      outputTokens: use.outputTokens - before.outputTokens,
      costUsd: use.costUsd - before.costUsd,
    };
  });
}
