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

/** Sums the usage of one run of a session. */
export interface Counter {
  /** The agent is active from now on. Idempotent. */
  start(): void;
  /** The agent is no longer active: its turn is over, or it waits for the user. Idempotent. */
  stop(): void;
  add(update: UsageUpdate): void;
  /** The usage in this run so far. */
  total(): Measured;
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
      addCost(update);
    },
    total() {
      settle();
      return { ...sum, activeMs: Math.floor(sum.activeMs) };
    },
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
