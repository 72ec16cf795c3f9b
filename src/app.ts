import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { getRequestListener, RequestError } from '@hono/node-server';
import { pino } from 'pino';
import { sharedNetworkWarning } from './agents/profiles/shared-networks.ts';
import { loadProfiles } from './agents/profiles.ts';
import type { KnownKey } from './auth/authenticate.ts';
import { createKnownKeys } from './auth/known-keys.ts';
import { connectionNetwork, createAddressOf } from './client-address.ts';
import type { Config } from './config/config.ts';
import { createConsole } from './console/door.ts';
import { createPatterns } from './domain/automations/create-patterns.ts';
import { type Installation, prepareInstallation } from './domain/bootstrap.ts';
import type { Log, Services } from './domain/context.ts';
import { createKeyUses, type KeyUses } from './domain/keys/key-usage.ts';
import { createLiveViewers } from './domain/keys/live-viewers.ts';
import { createLegacyUses, type LegacyUses } from './domain/legacy-calls/legacy-uses.ts';
import { createLimits } from './domain/limits/limits.ts';
import { createOpenStreams, type OpenStreams } from './domain/limits/open-streams.ts';
import { createMaintenance, warnOfMaintenance } from './domain/maintenance/maintenance.ts';
import type { Worker } from './domain/runs/worker.ts';
import { createWatches, type Watches } from './domain/sessions/watch.ts';
import { createBell } from './events/create-bell.ts';
import { schema } from './graphql/schema/index.ts';
import { createGraphql } from './graphql/server.ts';
import { loadTrustedDocuments, type TrustedDocuments } from './graphql/trusted-documents.ts';
import { hangUp, setHangUp } from './http/hang-up.ts';
import { ignoreUpgrade } from './http/ignore-upgrade.ts';
import { createInFlight } from './http/in-flight.ts';
import { limitConnections } from './http/limit-connections.ts';
import { type Listening, listen, listeningAddress, serviceAddress } from './http/listen.ts';
import { createOutside } from './http/outside.ts';
import { createPlainWays, type PlainWay } from './http/plain-ways.ts';
import { headerLimit, refuseUnreadable } from './http/refuse-unreadable.ts';
import { defaultRequestTimes, type RequestTimes, requireBodyRate, serverTimes } from './http/slow-requests.ts';
import { refuseAddress, refuseUntidy } from './http/untidy.ts';
import { openWorker } from './open-worker.ts';
import { bellLog, withoutOutages } from './outage-logs.ts';
import { createReadiness } from './readiness.ts';
import { createRest } from './rest/router.ts';
import { createDeletedOrganizations } from './scheduler/deleted-organizations.ts';
import { createDueAutomations } from './scheduler/due-automations.ts';
import { createIdleSessions } from './scheduler/idle-sessions.ts';
import { createOrphanedAttachments } from './scheduler/orphaned-attachments.ts';
import { createRetention } from './scheduler/retention.ts';
import { createSessionEvents } from './scheduler/session-events.ts';
import { createWebhooks } from './scheduler/webhooks.ts';
import { allowing, outagePage, plain, welcome } from './service-pages.ts';
import { createKeyring, loadSecretKey } from './store/cipher.ts';
import { openFiles } from './store/files.ts';
import { openStore, type Store } from './store/store.ts';

/** Where `npm run build:console` puts the console: beside this file when it has been built, else where that will be. */
const builtConsole = join(import.meta.dirname, '../dist/web');

/** How long a stop waits for answers that are under way. */
const answerPatienceMs = 5_000;

/** Parts that somebody else opened; tests give theirs. */
export interface AppParts {
  readonly store?: Store;
  readonly log?: Log;
  readonly requestTimes?: RequestTimes;
}

/** A whole Switchyard: every part built once, in the order of the picture in docs/architecture.md. */
export interface App {
  readonly installation: Installation;
  readonly services: Services;
  readonly watches: Watches;
  /** The sockets and streams that are open. */
  readonly streams: OpenStreams;
  readonly keyUses: KeyUses;
  readonly legacyUses: LegacyUses;
  /** Null without the worker role. */
  readonly worker: Worker | null;
  /** Answers one HTTP request, whatever its door; `address` is the caller's. */
  fetch(request: Request, address: string | null): Promise<Response>;
  /** The short ways of requests: what comes by them is not given to `fetch`, unless they give null. */
  plainWay: PlainWay;
  /** Listens and starts to work; gives the address. */
  start(): Promise<{ url: string }>;
  /** Ends every connection and agent, and closes the store. Safe to call twice. */
  stop(): Promise<void>;
}

/** Builds the app. Rejects with a sentence for the operator when something is in the way; nothing is left open then. */
export async function createApp(config: Config, parts: AppParts = {}): Promise<App> {
  const storeLog = parts.log ?? createLog(config);
  const log = withoutOutages(storeLog);
  const profiles = await loadProfiles(config.agentsConfig, config.readVariable);
  const trusted = await loadTrustedDocuments(config.trustedDocuments, schema);
  // Before the first start makes tokens that are shown only once it listens.
  await requirePlace(config);
  const store = parts.store ?? (await openStore({ ...databaseOf(config), log: storeLog }));
  try {
    return await assemble(config, store, log, profiles, trusted, parts.requestTimes ?? defaultRequestTimes);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Selects what says where and how to open the store. */
function databaseOf({ dataDir, databaseUrl, databaseLimits }: Config) {
  return { dataDir, databaseUrl, limits: databaseLimits };
}

function createLog(config: Config): Log {
  // To stderr: what a first start prints for the reader goes to stdout, alone.
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
  const bell = createBell({ databaseUrl, execute: (sql, values) => store.execute(sql, values), log: bellLog(log) });
  let baseUrl = config.baseUrl ?? '';
  const { attachmentsDir: directory, s3, maxAttachmentBytes } = config;
  const files = await openFiles({ spoolDir: join(config.dataDir, 'uploads'), directory, s3 });
  const base = { store, bell, keyring, log, files, maxAttachmentBytes, now: () => new Date() };
  const keyUses = createKeyUses(base);
  const knownKeys = createKnownKeys<KnownKey>(store);
  // Asked anew: tests move the time.
  const legacyUses = createLegacyUses({ ...base, now: () => services.now() });
  const liveViewers = createLiveViewers(base);
  const openStreams = createOpenStreams(config.maxSockets);
  const limits = createLimits(
    // Asked anew: tests move the time.
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
    knownKeys,
    legacyUsage: legacyUses,
    liveViewers,
    openStreams,
    limits,
    patterns: createPatterns({ log, now: () => services.now() }),
    metering: config.metering,
    concurrencyLimits: config.concurrencyLimits,
    isPrivateWebhookAllowed: config.isPrivateWebhookAllowed,
    // Known once the port is: contexts are made from this per request, after that.
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

  const outside = createOutside(config);
  const open = async (request: Request, address: string | null): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const isOptions = request.method === 'OPTIONS';
    if (isOptions && ['/', '/healthz', '/readyz'].includes(pathname)) return allowing('GET, HEAD, OPTIONS');
    if (pathname === '/healthz') return plain(200, 'ok');
    if (pathname === '/readyz') return plain(...(await readiness.check()));
    if (!config.roles.includes('api')) return plain(404, 'This process does not serve the API: its ROLES lack "api".');
    if (isOptions && pathname === '/graphql') return allowing('GET, POST, OPTIONS');
    if (isOptions && pathname === '/graphql/stream') return allowing('GET, POST, PUT, DELETE, OPTIONS');
    if (pathname === '/graphql' || pathname.startsWith('/graphql/'))
      return graphql.fetch(request, { address, cut: () => hangUp(request) });
    const ofConsole = await web.fetch(request, { address });
    if (ofConsole) return ofConsole;
    if (pathname === '/') return plain(200, welcome(baseUrl));
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
    fetch: (request, address) => outside.answer(request, () => open(request, address).catch(outagePage)),
    plainWay(incoming, address) {
      if (!config.roles.includes('api')) return null;
      return incoming.url === '/graphql' ? graphql.plainPost(incoming, address) : rest.plain(incoming, address);
    },
    async start() {
      bell.on('keys', knownKeys.forget);
      await bell.start();
      watches.start();
      liveViewers.start();
      keyUses.start();
      legacyUses.start();
      listening = await listen(server, config);
      const { port } = listening;
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
  const way: PlainWay = (incoming, address) => app.plainWay(incoming, address);
  const plainWays = createPlainWays({ way, outside, addressOf, log });
  const listener = getRequestListener(
    async (request, env) => {
      const incoming = env.incoming as IncomingMessage;
      const answer = plainWays.findAnswer(incoming);
      if (answer) return outside.answer(request, async () => answer);
      setHangUp(request, () => (env.outgoing as ServerResponse).destroy());
      return refuseUntidy(request, incoming) ?? app.fetch(request, addressOf(incoming));
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
  const server = createServer(serverOptions, inFlight.before(plainWays.before(listener)));
  limitConnections(server, config, connectionNetwork);
  requireBodyRate(server, requestTimes);
  refuseUnreadable(server);
  server.on('upgrade', (request, socket, head) => {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') return ignoreUpgrade(server, request, socket, head);
    // From here on the HTTP server no longer listens to this socket: a client that goes away must not end the process.
    socket.on('error', () => socket.destroy());
    // Not by URL: what a client writes there need not be one.
    const [pathname] = (request.url ?? '').split('?');
    if (pathname === '/graphql' && config.roles.includes('api')) {
      graphql.upgrade(request, socket, head, addressOf(request));
      return;
    }
    socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });

  let listening: Listening | null = null;
  let stopped: Promise<void> | null = null;
  const stopAll = async () => {
    readiness.setReason('stopping');
    // A load balancer sees that and sends no more requests, before the port closes.
    if (server.listening && config.stopDelayMs > 0) await delay(config.stopDelayMs);
    listening?.close();
    const closed = new Promise<void>((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
    openStreams.endAll();
    // What has been taken is answered: who gets no answer must not find it done.
    const answered = inFlight.finish(answerPatienceMs);
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
    await bell.stop();
    await store.close();
    log.info({}, 'Switchyard has stopped.');
  };
  return app;
}

async function requirePlace(config: Config): Promise<void> {
  const probe = createServer();
  const listening = await listen(probe, config);
  listening.close();
  await new Promise((resolve) => probe.close(resolve));
}
