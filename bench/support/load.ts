// The load generator, in a process of its own, so that its CPU is not the server's.
import { Pool } from 'undici';
import { serveRequests } from './processes.ts';

/** One HTTP request. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Requests in turn, over so many connections, for so long (and at least `atLeast` of them), or so often if `times` is said. */
export interface LoadRequest {
  readonly url: string;
  readonly requests: readonly HttpRequest[];
  readonly connections: number;
  readonly ms: number;
  readonly times?: number;
  readonly minRequests?: number;
  /** Whether each answer to the same request may be another, as those to writes are. */
  readonly isVarying?: boolean;
}

/** What came of it. */
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
      // The data stand still: another length is another answer.
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
