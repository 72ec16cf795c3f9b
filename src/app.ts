import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openProfileRegistry, type ProfileRegistry } from './agents/profile-registry.ts';
import type { openDrivers } from './agents/sandbox/drivers.ts';
import { createConsole } from './api/console/console-app.ts';
import { schema } from './api/graphql/schema/index.ts';
import { createGraphql } from './api/graphql/server.ts';
import { loadTrustedDocuments, type TrustedDocuments } from './api/graphql/trusted-documents.ts';
import { createOauth } from './api/oauth/oauth-app.ts';
import { createRest } from './api/rest/router.ts';
import { createAgentWatch } from './assembly/agent-watch.ts';
import { createHttpServer } from './assembly/create-http-server.ts';
import { createJobs } from './assembly/create-jobs.ts';
import { createLog, createServices } from './assembly/create-services.ts';
import { measureRequests, openMetrics } from './assembly/open-metrics.ts';
import { openWorker } from './assembly/open-worker.ts';
import { withoutOutages } from './assembly/outage-logs.ts';
import type { PackageOf } from './assembly/program-manager.ts';
import { createReadiness } from './assembly/readiness.ts';
import { createRequestRouter } from './assembly/route-request.ts';
import { outagePage } from './assembly/service-pages.ts';
import { traceRequests } from './assembly/trace-requests.ts';
import type { Config } from './config/config.ts';
import type { Log, Services } from './domain/context.ts';
import type { MonotonicClock } from './domain/execution/checkpoints/monotonic-clock.ts';
import type { Worker } from './domain/execution/runs/worker.ts';
import type { KeyUses } from './domain/identity/keys/key-usage.ts';
import type { Installation } from './domain/installation/bootstrap.ts';
import type { OpenStreams } from './domain/limits/open-streams.ts';
import { warnOfMaintenance } from './domain/maintenance/maintenance.ts';
import { createWatches, type Watches } from './domain/subscriptions/watches.ts';
import type { LegacyUses } from './domain/usage/legacy-calls/legacy-uses.ts';
import { type HttpListener, listen, listeningAddress, serviceAddress } from './http/listen.ts';
import type { Reply } from './http/reply.ts';
import type { RequestView } from './http/request-view.ts';
import { defaultRequestTimes, type RequestTimes } from './http/slow-requests.ts';
import type { MetricsServer } from './metrics/serve-metrics.ts';
import { openStore, type Store } from './store/store.ts';

/** The build output of the console: beside this file in a built service, otherwise in the repository's `dist`. */
const builtConsole = join(import.meta.dirname, '../dist/web');

/** The time that a stop waits for responses in progress. */
const answerTimeoutMs = 5_000;

/** Parts that the caller provides instead of the app; tests use this. */
export interface AppParts {
  readonly store?: Store;
  readonly log?: Log;
  readonly requestTimes?: RequestTimes;
  /** Opens the drivers of the worker's agents. */
  readonly openDrivers?: typeof openDrivers;
  /** Returns the package to install for an agent, and its lock. */
  readonly packageOf?: PackageOf;
  /** The clock by which workspaces are saved. */
  readonly checkpointClock?: MonotonicClock;
}

/** A complete Switchyard: every part is built once, in the order of the diagram in docs/architecture.md. */
export interface App {
  readonly installation: Installation;
  readonly services: Services;
  readonly watches: Watches;
  /** The open sockets and streams. */
  readonly streams: OpenStreams;
  readonly keyUses: KeyUses;
  readonly legacyUses: LegacyUses;
  /** Null without the worker role. */
  readonly worker: Worker | null;
  /** Answers one HTTP request of any API. */
  respond(request: RequestView): Promise<Reply>;
  /** Listens and starts the background work; returns the address. */
  start(): Promise<{ url: string }>;
  /** Closes every connection, stops every agent, and closes the store. Safe to call twice. */
  stop(): Promise<void>;
}

/** Builds the app. If it cannot start, rejects with a message for the operator and leaves nothing open. */
export async function createApp(config: Config, parts: AppParts = {}): Promise<App> {
  const storeLog = parts.log ?? createLog(config);
  const log = withoutOutages(storeLog);
  const agents = await openProfileRegistry({ ...config, path: config.agentBaseEnv.PATH ?? '' });
  const trusted = await loadTrustedDocuments(config.trustedDocuments, schema);
  // Checked before the first start creates tokens, which are shown only once it listens.
  await requireListenAddress(config);
  const store = parts.store ?? (await openStore({ ...databaseOf(config), log: storeLog }));
  try {
    const requestTimes = parts.requestTimes ?? defaultRequestTimes;
    return await assemble(config, { ...parts, store, log, agents, trusted, requestTimes });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The configuration that the store needs. */
function databaseOf({ dataDir, databaseUrl, databasePoolerUrl, databaseLimits, databaseReplicas, roles }: Config) {
  return {
    dataDir,
    databaseUrl,
    poolerUrl: databasePoolerUrl,
    limits: databaseLimits,
    // Only requests read lists.
    ...(roles.includes('api') && { replicas: databaseReplicas }),
  };
}

/** The parts that are loaded, or opened, before the app is built. */
interface AssembledParts extends Pick<AppParts, 'openDrivers' | 'packageOf' | 'checkpointClock'> {
  readonly store: Store;
  readonly log: Log;
  readonly agents: ProfileRegistry;
  readonly trusted: TrustedDocuments;
  readonly requestTimes: RequestTimes;
}

async function assemble(config: Config, parts: AssembledParts): Promise<App> {
  const { store, log, trusted } = parts;
  const built = await createServices(config, parts);
  const { services, installation, maintenance, keyUses, legacyUses, openStreams } = built;
  const watches = createWatches(services);
  const rest = createRest(services, watches);
  const { isIntrospectable, hasExplorer, graphqlCacheBytes: cacheBytes } = config;
  const graphql = createGraphql(services, watches, { trusted, isIntrospectable, hasExplorer, cacheBytes });
  const opened = config.roles.includes('worker') ? await openWorker(config, services, installation, parts) : null;
  const worker = opened?.worker ?? null;
  const agentWatch = createAgentWatch(services, config.agentsDir, opened?.programs ?? null);
  const jobs = createJobs(config, services);
  const readiness = createReadiness({
    isMaintenance: () => maintenance.mode() !== null,
    store,
    directories: { DATA_DIR: config.dataDir, ...(config.s3 === null && { ATTACHMENTS_DIR: config.attachmentsDir }) },
  });
  const web = createConsole(services, builtConsole);
  const oauth = createOauth(services);
  const route = createRequestRouter(config, { rest, web, graphql, oauth, readiness, baseUrl: () => services.baseUrl });

  const app: App = {
    installation,
    services,
    watches,
    streams: openStreams,
    keyUses,
    legacyUses,
    worker,
    respond: measureRequests(
      config,
      services,
      traceRequests(config, services.tracing, (request) => route(request).catch(outagePage)),
    ),
    async start() {
      services.notifier.subscribe('keys', services.keyCache.invalidate);
      await Promise.all([services.notifier.start(), services.broadcaster.start()]);
      await agentWatch.start();
      watches.start();
      services.liveViewers.start();
      keyUses.start();
      legacyUses.start();
      metricsServer = await openMetrics(config, services, { openStreams, watches, worker });
      httpListener = await listen(server, config);
      const { port } = httpListener;
      const url = listeningAddress(config.host, port);
      built.setBaseUrl(serviceAddress({ ...config, port }));
      await maintenance.start(async () => {
        await worker?.start();
        for (const job of jobs) job.start();
      });
      readiness.setReason(null);
      warnOfMaintenance(log, maintenance);
      log.info({ url, database: store.dialect, roles: config.roles }, 'Switchyard is listening.');
      return { url };
    },
    stop() {
      stopped ??= stopAll();
      return stopped;
    },
  };
  const { server, inFlight } = createHttpServer(config, {
    log,
    requestTimes: parts.requestTimes,
    // Read on each request: tests replace it.
    respond: (request) => app.respond(request),
    upgrade: graphql.upgrade,
  });

  let metricsServer: MetricsServer | null = null;
  let httpListener: HttpListener | null = null;
  let stopped: Promise<void> | null = null;
  const stopAll = async () => {
    readiness.setReason('stopping');
    // A load balancer sees this and sends no more requests before the port closes.
    if (server.listening && config.stopDelayMs > 0) await delay(config.stopDelayMs);
    httpListener?.close();
    const closed = new Promise<void>((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
    openStreams.endAll();
    // Accepted requests are answered: otherwise their work would be done without a response.
    const answered = inFlight.finish(answerTimeoutMs);
    await graphql.stop();
    await agentWatch.stop();
    await maintenance.stop();
    await worker?.stop();
    await Promise.all(jobs.map((job) => job.stop()));
    await answered;
    watches.stop();
    services.liveViewers.stop();
    await keyUses.stop();
    await legacyUses.stop();
    await services.patterns.stop();
    await services.forges.close();
    server.closeAllConnections();
    await closed;
    await services.broadcaster.stop();
    await services.notifier.stop();
    await metricsServer?.close();
    await services.tracing.close();
    await store.close();
    log.info({}, 'Switchyard has stopped.');
  };
  return app;
}

async function requireListenAddress(config: Config): Promise<void> {
  const probe = createServer();
  const httpListener = await listen(probe, config);
  httpListener.close();
  await new Promise((resolve) => probe.close(resolve));
}
