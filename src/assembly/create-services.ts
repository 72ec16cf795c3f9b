import { join } from 'node:path';
import { pino } from 'pino';
import type { ProfileRegistry } from '../agents/profile-registry.ts';
import type { CachedKey } from '../auth/authenticate.ts';
import { createKeyCache } from '../auth/key-cache.ts';
import { createLiveViewers } from '../auth/live-viewers.ts';
import type { Config } from '../config/config.ts';
import { createPatterns } from '../domain/automations/triggers/create-patterns.ts';
import type { Log, Services } from '../domain/context.ts';
import { createKeyUses, type KeyUses } from '../domain/identity/keys/key-usage.ts';
import { type Installation, prepareInstallation } from '../domain/installation/bootstrap.ts';
import { createLimits } from '../domain/limits/limits.ts';
import { createOpenStreams, type OpenStreams } from '../domain/limits/open-streams.ts';
import { createMaintenance } from '../domain/maintenance/maintenance.ts';
import { createLegacyUses, type LegacyUses } from '../domain/usage/legacy-calls/legacy-uses.ts';
import { createForges } from '../forges/forges.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { createOidcProviders } from '../oidc/providers.ts';
import { readOidcSettings } from '../oidc/settings.ts';
import { createBroadcaster } from '../realtime/create-broadcaster.ts';
import { createNotifier } from '../realtime/create-notifier.ts';
import { createKeyring, loadSecretKey } from '../store/cipher.ts';
import { openFileStorage, openFiles } from '../store/files.ts';
import { createSegmentFiles } from '../store/segment-files.ts';
import type { Store } from '../store/store.ts';
import { openTracing } from '../tracing/open-tracing.ts';
import { notifierLog } from './outage-logs.ts';

/** The services of the domain, and the parts of them that the app starts and stops. */
export interface BuiltServices {
  readonly services: Services;
  readonly installation: Installation;
  readonly maintenance: ReturnType<typeof createMaintenance>;
  readonly keyUses: KeyUses;
  readonly legacyUses: LegacyUses;
  readonly openStreams: OpenStreams;
  /** Sets `services.baseUrl`, which is known once the process listens. */
  setBaseUrl(url: string): void;
}

/** Creates the log of the service. It goes to stderr: stdout holds only the output of the first start for the operator. */
export function createLog(config: Config): Log {
  return pino({ level: config.logLevel, base: null }, pino.destination(2)) as unknown as Log;
}

/** Builds the services of the domain and prepares the installation: on a new database that creates the first tenant. */
export async function createServices(
  config: Config,
  { store, log, agents }: { readonly store: Store; readonly log: Log; readonly agents: ProfileRegistry },
): Promise<BuiltServices> {
  const { databaseUrl, attachmentsDir: directory, s3, maxAttachmentBytes, maxToolOutputBytes } = config;
  const { oidcProvidersPath } = config;
  const oidcSettings = oidcProvidersPath === null ? [] : await readOidcSettings(oidcProvidersPath);
  const { secretKey, isGenerated } = await loadSecretKey({ dataDir: config.dataDir, fromEnv: config.secretKey });
  const keyring = createKeyring({ secretKey, previousSecretKey: config.previousSecretKey });
  const execute: Store['execute'] = (sql, values) => store.execute(sql, values);
  const notifier = createNotifier({ databaseUrl, execute, log: notifierLog(log) });
  const broadcaster = createBroadcaster({ databaseUrl, execute, keyOf: keyring.messageKey, log: notifierLog(log) });
  const storage = await openFileStorage({ directory, s3 });
  const files = await openFiles(storage, join(config.dataDir, 'uploads'));
  const segments = createSegmentFiles(storage);
  const limits = {
    maxAttachmentBytes,
    maxToolOutputBytes,
    checkpoints: config.checkpoints,
    retention: config.retention,
  };
  const tracing = await openTracing({ ...config.traces, log });
  const parts = { store, notifier, broadcaster, keyring, log, files, segments, metrics: createMetrics(), tracing };
  const base = { ...parts, ...limits, now: () => new Date() };
  // Reads `services.now` on each call: tests move the clock.
  const clocked = { ...base, now: () => services.now() };
  const keyUses = createKeyUses(base);
  const legacyUses = createLegacyUses(clocked);
  const openStreams = createOpenStreams(config.maxSockets);
  let baseUrl = config.baseUrl ?? '';
  const services: Services = {
    ...base,
    keyUsage: keyUses,
    keyCache: createKeyCache<CachedKey>(store),
    legacyUsage: legacyUses,
    liveViewers: createLiveViewers(base),
    openStreams,
    limits: createLimits(clocked, {
      rest: config.rateLimitRest,
      graphql: config.rateLimitGraphql,
      login: config.rateLimitLogin,
      webhook: config.rateLimitWebhook,
      gitWebhook: config.rateLimitGitWebhook,
      provider: config.rateLimitProvider,
    }),
    patterns: createPatterns({ log, now: clocked.now }),
    metering: config.metering,
    concurrencyLimits: config.concurrencyLimits,
    organizationQuotas: config.organizationQuotas,
    gitLimits: { maxPushBytes: config.maxPushBytes, maxFetchBytes: config.maxRepositoryBytes },
    mentionName: config.mentionName,
    isPrivateWebhookAllowed: config.isPrivateWebhookAllowed,
    isPrivateProviderAllowed: config.isPrivateProviderAllowed,
    identityProviders: createOidcProviders(oidcSettings, clocked.now),
    forges: createForges({ allowHttp: config.isHttpForgeAllowed, now: () => clocked.now().getTime() }),
    // Contexts read it for each request, after the process listens.
    get baseUrl() {
      return baseUrl;
    },
    agents,
    get agentProfiles() {
      return agents.profiles;
    },
    get defaultAgent() {
      return agents.defaultId;
    },
    maintenance: { mode: () => maintenance.mode() },
  };
  const installation = await prepareInstallation(services, {
    bootstrapToken: config.bootstrapToken,
    isKeyGenerated: isGenerated,
    isShared: databaseUrl !== null,
    maintenance: config.maintenance,
  });
  const { maintenanceSince } = installation;
  const maintenance = createMaintenance(base, { isConfigured: config.maintenance === true, maintenanceSince });
  const setBaseUrl = (url: string) => {
    baseUrl = url;
  };
  return { services, installation, maintenance, keyUses, legacyUses, openStreams, setBaseUrl };
}
