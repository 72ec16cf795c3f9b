import type { Bench } from './bench.ts';
import type { HttpRequest, LoadRequest, LoadResult } from './load.ts';
import { cpuMs, type Script } from './processes.ts';

/** A candidate of a comparison: a server and its requests. */
export interface Candidate {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
  readonly requests: readonly HttpRequest[];
  /** See {@link LoadRequest.isVarying}. */
  readonly isVarying?: boolean;
}

/** The cost of a candidate: medians of the rounds. */
export interface Cost {
  /** The server's CPU per request. */
  readonly cpuMs: number;
  readonly perSecond: number;
  /** The number of responses, including the warm-up. */
  readonly requests: number;
}

/** Options of a comparison. */
export interface CompareOptions {
  /** The load generator; by default a new one. */
  readonly load?: Script;
  /** True if the warm-up lasts until V8 has compiled the code, in a quick run too. */
  readonly isWarm?: boolean;
}

/** The number of concurrent connections. */
const connections = 16;

/**
 * Runs the candidates alternately in three rounds, so that drift affects all of them equally: first a warm-up, then the
 * medians. Returns their costs by name.
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
      // Fewer would mean little on a machine with other load.
      ...(times === undefined ? { minRequests: 200 } : { times }),
    } satisfies LoadRequest);
  const rounds = new Map<string, { cpu: number[]; rate: number[]; count: number }>();
  // By number and not by time: compilation depends on the number of runs, and a busy machine has fewer in the same
  // time.
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

/** The cost of a candidate. */
export function costOf(costs: ReadonlyMap<string, Cost>, name: string): Cost {
  const cost = costs.get(name);
  if (!cost) throw new Error(`"${name}" was not measured.`);
  return cost;
}

/** The median; of an even number, the lower middle value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
}
