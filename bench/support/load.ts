// The load generator, in a separate process so that its CPU is not counted as the server's.
import { Pool } from 'undici';
import { serveRequests } from './processes.ts';

/** One HTTP request. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Requests in turn, over `connections`, for a duration (at least `atLeast` of them), or exactly `times`. */
export interface LoadRequest {
  readonly url: string;
  readonly requests: readonly HttpRequest[];
  readonly connections: number;
  readonly ms: number;
  readonly times?: number;
  readonly minRequests?: number;
  /** True if responses to the same request may differ, as for writes. */
  readonly isVarying?: boolean;
}

/** The result of a load run. */
export interface LoadResult {
  readonly count: number;
  readonly ms: number;
  /** The median time of one request. */
  readonly medianMs: number;
}

const pools = new Map<string, Pool>();

async function run({
  url,
  requests,
  connections,
  ms,
  times = Number.POSITIVE_INFINITY,
  minRequests = 0,
  isVarying = false,
}: LoadRequest): Promise<LoadResult> {
  const key = `${url} ${connections}`;
  const pool = pools.get(key) ?? new Pool(url, { connections, pipelining: 1 });
  pools.set(key, pool);
  const lengths: number[] = [];
  const took: number[] = [];
  let begun = 0;
  const startedAt = performance.now();
  const worker = async () => {
    while (begun < times && (begun < minRequests || performance.now() - startedAt < ms)) {
      const n = begun++ % requests.length;
      const { method, path, headers, body } = requests[n] as HttpRequest;
      const sentAt = performance.now();
      const answer = await pool.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
      const bytes = await answer.body.bytes();
      took.push(performance.now() - sentAt);
      lengths[n] ??= bytes.length;
      // The data do not change, so another length means another response.
      if (answer.statusCode !== 200 || (!isVarying && bytes.length !== lengths[n])) {
        const text = Buffer.from(bytes).toString().slice(0, 500);
        throw new Error(`${method} ${url}${path} gave ${answer.statusCode}, ${bytes.length} bytes: ${text}`);
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const elapsed = performance.now() - startedAt;
  took.sort((a, b) => a - b);
  return { count: took.length, ms: elapsed, medianMs: took[took.length >> 1] ?? 0 };
}

serveRequests(run);
