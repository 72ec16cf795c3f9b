import type { AgentProfile } from '../agents/agent.ts';
import type { ProfileRegistry } from '../agents/profile-registry.ts';
import type { CachedKey, KeyUsage } from '../auth/authenticate.ts';
import type { KeyCache } from '../auth/key-cache.ts';
import type { LiveViewers } from '../auth/live-viewers.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Forges } from '../forges/forges.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { OidcProviders } from '../oidc/providers.ts';
import type { Broadcaster } from '../realtime/broadcaster.ts';
import type { Notifier } from '../realtime/notifier.ts';
import type { Keyring } from '../store/cipher.ts';
import type { Files } from '../store/files.ts';
import type { SegmentFiles } from '../store/segment-files.ts';
import type { Store } from '../store/store.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { LegacyUsage } from './legacy-usage.ts';
import type { Limits } from './limits/limits.ts';
import type { OpenStreams } from './limits/open-streams.ts';
import type { Maintenance } from './maintenance-mode.ts';
import type { MeteringRates } from './metering-rates.ts';
import type { Patterns } from './patterns.ts';

/** A structured logger (pino's interface, as far as we use it). Never pass it a secret. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Maximum numbers of concurrent sessions, over all processes; null: no limit. */
export interface ConcurrencyLimits {
  /** In each organization without a limit of its own. */
  readonly perOrganization: number | null;
  /** Of each user, or service user, in one organization. */
  readonly perUser: number | null;
}

/** Quotas of each organization without its own; null: no limit. */
export interface OrganizationQuotas {
  /** Maximum number of sessions that wait for a worker. */
  readonly maxQueuedSessions: number | null;
  /** Maximum size of attachments and checkpoints together, in MiB. */
  readonly maxStorageMb: number | null;
  /** Maximum number of tokens in a day (UTC). */
  readonly maxTokensPerDay: number | null;
}

/** Limits of what git transfers, in bytes. */
export interface GitLimits {
  /** The maximum size of the pack of a push. */
  readonly maxPushBytes: number;
  /** The maximum amount that a clone or a fetch receives from a forge. */
  readonly maxFetchBytes: number;
}

/** Settings of checkpoints. */
export interface CheckpointSettings {
  /** False: no session is saved. Earlier checkpoints can still be restored and deleted. */
  readonly isOn: boolean;
  /** The maximum size of one session's files that git does not ignore. */
  readonly maxFileBytes: number;
  /** The same for files that git ignores. */
  readonly maxIgnoredBytes: number;
  /** The time after which a session that is over loses its checkpoints; null: never. */
  readonly retentionMs: number | null;
}

/** Times after which data is deleted; null: never. Those of workspaces and checkpoints are in other settings. */
export interface RetentionTimes {
  /** Of a session that has ended. */
  readonly sessionMs: number | null;
  /** Of attachments whose session does not go on. */
  readonly attachmentMs: number | null;
  readonly auditLogMs: number | null;
  readonly webhookDeliveryMs: number | null;
}

/** The services of every domain function: built once by the app. */
export interface Services {
  readonly store: Store;
  readonly notifier: Notifier;
  /** Sends ephemeral messages, such as drafts, to all processes. */
  readonly broadcaster: Broadcaster;
  readonly keyring: Keyring;
  /** Storage for content that is too large for the database. */
  readonly files: Files;
  /** The content of checkpoints. */
  readonly segments: SegmentFiles;
  readonly checkpoints: CheckpointSettings;
  readonly retention: RetentionTimes;
  readonly maxAttachmentBytes: number;
  /** The maximum size of all files of tools in one session; 0: they are not stored. */
  readonly maxToolOutputBytes: number;
  /** The cached keys, which are valid while no key has changed. */
  readonly keyCache: KeyCache<CachedKey>;
  /** Records the uses of keys. */
  readonly keyUsage: KeyUsage;
  /** Counts calls of deprecated routes. */
  readonly legacyUsage: LegacyUsage;
  /** The viewers of open sockets and streams. */
  readonly liveViewers: LiveViewers;
  /** Counts the open streams of each principal. */
  readonly openStreams: OpenStreams;
  /** Rate limits of each key and each address. */
  readonly limits: Limits;
  readonly metering: MeteringRates;
  /** Runs the regular expressions of automations. */
  readonly patterns: Patterns;
  /** Maximum numbers of concurrent sessions, over all processes. */
  readonly concurrencyLimits: ConcurrencyLimits;
  readonly organizationQuotas: OrganizationQuotas;
  readonly gitLimits: GitLimits;
  /** True if webhooks may be sent to private networks, and unencrypted. */
  readonly isPrivateWebhookAllowed: boolean;
  /** True if the base URLs of provider keys may be in private networks, and unencrypted. */
  readonly isPrivateProviderAllowed: boolean;
  /** The name by which people address the service at forges, without "@". */
  readonly mentionName: string;
  /** The identity providers with which users sign in to the console. */
  readonly identityProviders: OidcProviders;
  /** The clients of forges, shared by all connections. */
  readonly forges: Forges;
  readonly log: Log;
  /** The metrics of this process. */
  readonly metrics: Metrics;
  /** The traces of this process. */
  readonly tracing: Tracing;
  /** The only source of times; tests replace it. */
  readonly now: () => Date;
  /** The base of `url` fields, without a slash at the end. */
  readonly baseUrl: string;
  /** The agents of this process. They change while it runs: do not keep what it returns. */
  readonly agents: ProfileRegistry;
  /** The profiles of `agents` now. */
  readonly agentProfiles: ReadonlyMap<string, AgentProfile>;
  /** The default of `agents` now. */
  readonly defaultAgent: string;
  readonly maintenance: Maintenance;
}

/** The first parameter of every domain function: the viewer, its address and the services. */
export interface Context extends Services {
  readonly viewer: Viewer;
  /** The caller's network address, for the audit log; null inside the service. */
  readonly address: string | null;
  /** True if the caller is the web console: version 1 has its own words for requests from there. */
  readonly isConsole?: boolean;
  /** The unprefixed id of the automation whose run acts. */
  readonly automationId?: string;
}
