import type { Bench } from './bench.ts';
import type { HttpRequest, LoadRequest, LoadResult } from './load.ts';
import { cpuMs, type Script } from './processes.ts';

/** One of those that are compared: a server, and what it is asked. */
export interface Candidate {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
  readonly requests: readonly HttpRequest[];
  /** See {@link LoadRequest.isVarying}. */
  readonly isVarying?: boolean;
}

/** What one of them took: medians of the rounds. */
export interface Cost {
  /** Of the server's CPU, for one request. */
  readonly cpuMs: number;
  readonly perSecond: number;
  /** How many were answered in all, the warm-up included. */
  readonly requests: number;
}

/** How they are compared. */
export interface CompareOptions {
  /** The load generator; one of its own when not said. */
  readonly load?: Script;
  /** Whether they are asked until V8 has compiled what they run, in a quick run too. */
  readonly isWarm?: boolean;
}

/** Connections that ask at once. */
const connections = 16;

/**
 * Runs the candidates in turn, three rounds, so that what drifts hits all alike: first a warm-up, then the medians. Gives
 * their costs by name.
 */
export async function compare(
  bench: Bench,
  candidates: readonly Candidate[],
  { load = bench.startScript('load'), isWarm = !bench.options.isQuick }: CompareOptions = {},
): Promise<ReadonlyMap<string, Cost>> {
  const { isQuick } = bench.options;
  const ask = ({ url, requests, isVarying = false }: Candidate, ms: number, times?: number) =>
    load.ask<LoadResult>({
      url,
      requests,
      connections,
      ms,
      isVarying,
      // Fewer would not say much, on a machine that has others to serve.
      ...(times === undefined ? { minRequests: 200 } : { times }),
    } satisfies LoadRequest);
  const rounds = new Map<string, { cpu: number[]; rate: number[]; count: number }>();
  // By number: what is compiled late depends on how often it ran, and a busy machine runs it less often in the same time.
  for (const candidate of candidates) {
    const { count } = await ask(candidate, isQuick ? 20_000 : 60_000, isWarm ? 4_000 : 800);
    rounds.set(candidate.name, { cpu: [], rate: [], count });
  }
  for (let round = 0; round < 3; round++) {
    for (const candidate of candidates) {
      const before = cpuMs(candidate.pid);
      const { count, ms } = await ask(candidate, isQuick ? 800 : 5_000);
      const result = rounds.get(candidate.name);
      result?.cpu.push((cpuMs(candidate.pid) - before) / count);
      result?.rate.push((count * 1_000) / ms);
      if (result) result.count += count;
    }
  }
  const costs = [...rounds].map(([name, { cpu, rate, count }]) => {
    const cost: Cost = { cpuMs: median(cpu), perSecond: median(rate), requests: count };
    bench.progress(`  ${name}: ${cost.cpuMs.toFixed(3)} ms of CPU, ${Math.round(cost.perSecond)}/s`);
    return [name, cost] as const;
  });
  return new Map(costs);
}

/** The cost of one that was compared. */
export function costOf(costs: ReadonlyMap<string, Cost>, name: string): Cost {
  const cost = costs.get(name);
  if (!cost) throw new Error(`"${name}" was not measured.`);
  return cost;
}

/** The middle one, or the lower of two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
}
