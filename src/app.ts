import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { getRequestListener, RequestError } from '@hono/node-server';
import { pino } from 'pino';
import { sharedNetworkWarning } from './agents/profiles/shared-networks.ts';
import { loadProfiles } from './agents/profiles.ts';
import { createConsole } from './api/console/console-app.ts';
import { schema } from './api/graphql/schema/index.ts';
import { createGraphql } from './api/graphql/server.ts';
import { loadTrustedDocuments, type TrustedDocuments } from './api/graphql/trusted-documents.ts';
import { createRest } from './api/rest/router.ts';
import type { CachedKey } from './auth/authenticate.ts';
import { createKeyCache } from './auth/key-cache.ts';
import { createLiveViewers } from './auth/live-viewers.ts';
import { connectionNetwork, createAddressOf } from './client-address.ts';
import type { Config } from './config/config.ts';
import { createPatterns } from './domain/automations/triggers/create-patterns.ts';
import type { Log, Services } from './domain/context.ts';
import type { Worker } from './domain/execution/runs/worker.ts';
import { createKeyUses, type KeyUses } from './domain/identity/keys/key-usage.ts';
import { type Installation, prepareInstallation } from './domain/installation/bootstrap.ts';
import { createLimits } from './domain/limits/limits.ts';
import { createOpenStreams, type OpenStreams } from './domain/limits/open-streams.ts';
import { createMaintenance, warnOfMaintenance } from './domain/maintenance/maintenance.ts';
import { createWatches, type Watches } from './domain/sessions/watch.ts';
import { createLegacyUses, type LegacyUses } from './domain/usage/legacy-calls/legacy-uses.ts';
import { destroySocket, setDestroySocket } from './http/destroy-socket.ts';
import { createFastPath, type FastPathHandler } from './http/fast-path.ts';
import { ignoreUpgrade } from './http/ignore-upgrade.ts';
import { createInFlight } from './http/in-flight.ts';
import { limitConnections } from './http/limit-connections.ts';
import { type HttpListener, listen, listeningAddress, serviceAddress } from './http/listen.ts';
import { headerLimit, refuseUnreadable } from './http/refuse-unreadable.ts';
import { refuseAddress, refuseNonCanonicalTarget } from './http/request-target.ts';
import { createResponseFinalizer } from './http/response-finalizer.ts';
import { defaultRequestTimes, type RequestTimes, requireBodyRate, serverTimes } from './http/slow-requests.ts';
import { createDeletedOrganizations } from './jobs/deleted-organizations.ts';
import { createDueAutomations } from './jobs/due-automations.ts';
import { createIdleSessions } from './jobs/idle-sessions.ts';
import { createOrphanedAttachments } from './jobs/orphaned-attachments.ts';
import { createRetention } from './jobs/retention.ts';
import { createSessionEvents } from './jobs/session-events.ts';
import { createWebhooks } from './jobs/webhooks.ts';
import { openWorker } from './open-worker.ts';
import { notifierLog, withoutOutages } from './outage-logs.ts';
import { createReadiness } from './readiness.ts';
import { createNotifier } from './realtime/create-notifier.ts';
import { optionsResponse, outagePage, plainText, welcome } from './service-pages.ts';
import { createKeyring, loadSecretKey } from './store/cipher.ts';
import { openFiles } from './store/files.ts';
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
  /** Answers one HTTP request of any API; `address` is the caller's. */
  fetch(request: Request, address: string | null): Promise<Response>;
  /** The fast paths. A request goes to `fetch` only if they return null. */
  fastPath: FastPathHandler;
  /** Listens and starts the background work; returns the address. */
  start(): Promise<{ url: string }>;
  /** Closes every connection, stops every agent, and closes the store. Safe to call twice. */
  stop(): Promise<void>;
}

/** Builds the app. If it cannot start, rejects with a message for the operator and leaves nothing open. */
export async function createApp(config: Config, parts: AppParts = {}): Promise<App> {
  const storeLog = parts.log ?? createLog(config);
  const log = withoutOutages(storeLog);
  const profiles = await loadProfiles(config.agentsConfig, config.readVariable);
  const trusted = await loadTrustedDocuments(config.trustedDocuments, schema);
  // Checked before the first start creates tokens, which are shown only once it listens.
  await requireListenAddress(config);
  const store = parts.store ?? (await openStore({ ...databaseOf(config), log: storeLog }));
  try {
    return await assemble(config, store, log, profiles, trusted, parts.requestTimes ?? defaultRequestTimes);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The configuration that the store needs. */
function databaseOf({ dataDir, databaseUrl, databaseLimits }: Config) {
  return { dataDir, databaseUrl, limits: databaseLimits };
}

function createLog(config: Config): Log {
  // Logs to stderr: stdout holds only the output of the first start for the operator.
  return pino({ level: config.logLevel, base: null }, pino.destination(2)) as unknown as Log;
}

async function assemble(
  config: Config,
  store: Store,
  log: Log,
  profiles: Awaited<ReturnType<typeof loadProfiles>>,
  trusted: TrustedDocuments,
  requestTimes: RequestTimes,
): Promise<App> {
  const { secretKey, isGenerated } = await loadSecretKey({ dataDir: config.dataDir, fromEnv: config.secretKey });
  const keyring = createKeyring({ secretKey, previousSecretKey: config.previousSecretKey });
  const { databaseUrl } = config;
  const notifier = createNotifier({
    databaseUrl,
    execute: (sql, values) => store.execute(sql, values),
    log: notifierLog(log),
  });
  let baseUrl = config.baseUrl ?? '';
  const { attachmentsDir: directory, s3, maxAttachmentBytes } = config;
  const files = await openFiles({ spoolDir: join(config.dataDir, 'uploads'), directory, s3 });
  const base = { store, notifier, keyring, log, files, maxAttachmentBytes, now: () => new Date() };
  const keyUses = createKeyUses(base);
  const keyCache = createKeyCache<CachedKey>(store);
  // Read on each call: tests move the clock.
  const legacyUses = createLegacyUses({ ...base, now: () => services.now() });
  const liveViewers = createLiveViewers(base);
  const openStreams = createOpenStreams(config.maxSockets);
  const limits = createLimits(
    // Read on each call: tests move the clock.
    { ...base, now: () => services.now() },
    {
      rest: config.rateLimitRest,
      graphql: config.rateLimitGraphql,
      login: config.rateLimitLogin,
      webhook: config.rateLimitWebhook,
    },
  );
  const services: Services = {
    ...base,
    keyUsage: keyUses,
    keyCache,
    legacyUsage: legacyUses,
    liveViewers,
    openStreams,
    limits,
    patterns: createPatterns({ log, now: () => services.now() }),
    metering: config.metering,
    concurrencyLimits: config.concurrencyLimits,
    isPrivateWebhookAllowed: config.isPrivateWebhookAllowed,
    // Known once the port is. Contexts read it per request, after that.
    get baseUrl() {
      return baseUrl;
    },
    agentProfiles: profiles.profiles,
    defaultAgent: profiles.defaultId,
    maintenance: { mode: () => maintenance.mode() },
  };
  const installation = await prepareInstallation(services, {
    bootstrapToken: config.bootstrapToken,
    isKeyGenerated: isGenerated,
    isShared: databaseUrl !== null,
    maintenance: config.maintenance,
  });
  const maintenance = createMaintenance(base, {
    isConfigured: config.maintenance === true,
    maintenanceSince: installation.maintenanceSince,
  });
  const isExposed = config.roles.includes('api') || config.roles.includes('worker');
  const warning = isExposed ? sharedNetworkWarning(profiles.profiles.values()) : null;
  if (warning !== null) log.warn({}, warning);
  const watches = createWatches(services);
  const rest = createRest(services, watches);
  const web = createConsole(services, builtConsole);
  const { isIntrospectable, hasExplorer, graphqlCacheBytes: cacheBytes } = config;
  const graphql = createGraphql(services, watches, { trusted, isIntrospectable, hasExplorer, cacheBytes });
  const worker = config.roles.includes('worker') ? await openWorker(config, services, installation) : null;
  const scheduled = [
    ...(config.roles.includes('scheduler')
      ? [
          createRetention(services),
          createDeletedOrganizations(services),
          createIdleSessions(services, config),
          createDueAutomations(services),
          createSessionEvents(services),
          createWebhooks(services),
        ]
      : []),
    ...(config.roles.includes('api') ? [createOrphanedAttachments(services)] : []),
  ];
  const readiness = createReadiness({
    isMaintenance: () => maintenance.mode() !== null,
    store,
    directories: { DATA_DIR: config.dataDir, ...(s3 === null && { ATTACHMENTS_DIR: directory }) },
  });

  const finalizer = createResponseFinalizer(config);
  const open = async (request: Request, address: string | null): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const isOptions = request.method === 'OPTIONS';
    if (isOptions && ['/', '/healthz', '/readyz'].includes(pathname)) return optionsResponse('GET, HEAD, OPTIONS');
    if (pathname === '/healthz') return plainText(200, 'ok');
    if (pathname === '/readyz') return plainText(...(await readiness.check()));
    if (!config.roles.includes('api'))
      return plainText(404, 'This process does not serve the API: its ROLES lack "api".');
    if (isOptions && pathname === '/graphql') return optionsResponse('GET, POST, OPTIONS');
    if (isOptions && pathname === '/graphql/stream') return optionsResponse('GET, POST, PUT, DELETE, OPTIONS');
    if (pathname === '/graphql' || pathname.startsWith('/graphql/'))
      return graphql.fetch(request, { address, cut: () => destroySocket(request) });
    const consoleResponse = await web.fetch(request, { address });
    if (consoleResponse) return consoleResponse;
    if (pathname === '/') return plainText(200, welcome(baseUrl));
    const answer = await rest.fetch(request, { address });
    return answer.status === 404 ? ((await web.missing(request)) ?? answer) : answer;
  };

  const app: App = {
    installation,
    services,
    watches,
    streams: openStreams,
    keyUses,
    legacyUses,
    worker,
    fetch: (request, address) => finalizer.finalize(request, () => open(request, address).catch(outagePage)),
    fastPath(incoming, address) {
      if (!config.roles.includes('api')) return null;
      return incoming.url === '/graphql' ? graphql.fastPath(incoming, address) : rest.fastPath(incoming, address);
    },
    async start() {
      notifier.subscribe('keys', keyCache.invalidate);
      await notifier.start();
      watches.start();
      liveViewers.start();
      keyUses.start();
      legacyUses.start();
      httpListener = await listen(server, config);
      const { port } = httpListener;
      const url = listeningAddress(config.host, port);
      baseUrl = serviceAddress({ ...config, port });
      await maintenance.start(async () => {
        await worker?.start();
        for (const each of scheduled) each.start();
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

  const addressOf = createAddressOf(config.trustProxy);
  const handler: FastPathHandler = (incoming, address) => app.fastPath(incoming, address);
  const fastPath = createFastPath({ handler, finalizer, addressOf, log });
  const listener = getRequestListener(
    async (request, env) => {
      const incoming = env.incoming as IncomingMessage;
      const answer = fastPath.findAnswer(incoming);
      if (answer) return finalizer.finalize(request, async () => answer);
      setDestroySocket(request, () => (env.outgoing as ServerResponse).destroy());
      return refuseNonCanonicalTarget(request, incoming) ?? app.fetch(request, addressOf(incoming));
    },
    {
      errorHandler(error) {
        if (error instanceof RequestError) return refuseAddress();
        log.error({ err: error }, 'A request failed.');
        return new Response(null, { status: 500 });
      },
    },
  );
  const inFlight = createInFlight();
  const { keepAliveMs: keepAliveTimeout } = config;
  const serverOptions = { keepAliveTimeout, ...headerLimit, ...serverTimes(requestTimes) };
  const server = createServer(serverOptions, inFlight.wrap(fastPath.wrap(listener)));
  limitConnections(server, config, connectionNetwork);
  requireBodyRate(server, requestTimes);
  refuseUnreadable(server);
  server.on('upgrade', (request, socket, head) => {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') return ignoreUpgrade(server, request, socket, head);
    // From here on the HTTP server no longer handles errors of this socket, and a client that disconnects must not end
    // the process.
    socket.on('error', () => socket.destroy());
    // Not parsed as a URL: the client may have sent an invalid one.
    const [pathname] = (request.url ?? '').split('?');
    if (pathname === '/graphql' && config.roles.includes('api')) {
      graphql.upgrade(request, socket, head, addressOf(request));
      return;
    }
    socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });

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
    await maintenance.stop();
    await worker?.stop();
    await Promise.all(scheduled.map((each) => each.stop()));
    await answered;
    watches.stop();
    liveViewers.stop();
    await keyUses.stop();
    await legacyUses.stop();
    await services.patterns.stop();
    server.closeAllConnections();
    await closed;
    await notifier.stop();
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
