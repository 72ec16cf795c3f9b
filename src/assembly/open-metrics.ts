import type { Config } from '../config/config.ts';
import type { Services } from '../domain/context.ts';
import type { Worker } from '../domain/execution/runs/worker.ts';
import type { OpenStreams } from '../domain/limits/open-streams.ts';
import type { Watches } from '../domain/subscriptions/watches.ts';
import type { Reply } from '../http/reply.ts';
import type { RequestView } from '../http/request-view.ts';
import { addProcessMetrics, type Metrics } from '../metrics/metrics.ts';
import { createDatabaseState } from '../metrics/read-database-state.ts';
import { type MetricsServer, serveMetrics } from '../metrics/serve-metrics.ts';
import type { ReplicasState } from '../store/replicas/replicas.ts';

/** The parts of the app that are measured at the time of a scrape. */
export interface MeasuredParts {
  readonly openStreams: OpenStreams;
  readonly watches: Watches;
  readonly worker: Worker | null;
}

/** Serves the metrics of this process on `METRICS_ADDRESS`. Null: no address is set. */
export async function openMetrics(
  config: Config,
  services: Services,
  { openStreams, watches, worker }: MeasuredParts,
): Promise<MetricsServer | null> {
  if (config.metricsAddress === null) return null;
  const { metrics, store } = services;
  addProcessMetrics(metrics);
  const readDatabase = createDatabaseState({ store, metrics, now: () => services.now() });
  const update = async () => {
    const { socket, stream } = openStreams.count();
    metrics.streams.set({ kind: 'websocket' }, socket);
    metrics.streams.set({ kind: 'event_stream' }, stream);
    metrics.subscriptions.set(watches.active());
    // The notifier counts.
    metrics.notificationsReceived.reset();
    metrics.notificationsReceived.inc(services.notifier.receivedCount());
    metrics.workerSessions.set(worker?.active() ?? 0);
    metrics.workerSlots.set(worker?.slots ?? 0);
    const pool = store.connections();
    if (pool !== null) {
      metrics.poolConnections.set({ state: 'idle' }, pool.idle);
      metrics.poolConnections.set({ state: 'used' }, pool.total - pool.idle);
      metrics.poolWaiting.set(pool.waiting);
    }
    measureReplicas(metrics, store.replicas());
    await readDatabase();
  };
  const { host, port } = config.metricsAddress;
  const server = await serveMetrics(metrics, { address: config.metricsAddress, update }).catch((error: Error) => {
    throw new Error(`METRICS_ADDRESS: the service cannot listen on port ${port} of ${host}. ${error.message}`);
  });
  services.log.info({ url: server.url }, 'The metrics are served.');
  return server;
}

function measureReplicas({ listReads, replicaLag, replicaUsable }: Metrics, state: ReplicasState | null): void {
  if (state === null) return;
  const { replicas, primaryReads } = state;
  const replicaReads = replicas.reduce((sum, { reads }) => sum + reads, 0);
  // The store counts.
  listReads.reset();
  listReads.inc({ target: 'primary' }, primaryReads);
  listReads.inc({ target: 'replica' }, replicaReads);
  for (const { server: replica, isUsable, lagMs } of replicas) {
    replicaUsable.set({ replica }, isUsable ? 1 : 0);
    if (lagMs === null) replicaLag.remove({ replica });
    else replicaLag.set({ replica }, lagMs / 1_000);
  }
}

/** The first parts of paths that have series of their own. */
const apis = new Set([
  'graphql',
  'v1',
  'v2',
  'v3',
  'scim',
  'console',
  'attachments',
  'workspace-files',
  'healthz',
  'readyz',
]);

/** Measures the function that answers requests, if the metrics are served. */
export function measureRequests(
  { metricsAddress }: Config,
  { metrics }: Services,
  respond: (request: RequestView) => Promise<Reply>,
): (request: RequestView) => Promise<Reply> {
  if (metricsAddress === null) return respond;
  return async (request) => {
    const startedAt = performance.now();
    let status = '5xx';
    try {
      const reply = await respond(request);
      status = `${Math.floor(reply.status / 100)}xx`;
      return reply;
    } finally {
      const [, first = ''] = request.path.split('/', 2);
      const api = apis.has(first) ? first : 'other';
      metrics.httpDuration.observe({ api, status }, (performance.now() - startedAt) / 1_000);
    }
  };
}
