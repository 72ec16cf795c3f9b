import type { AgentProfile } from '../agents/agent.ts';
import type { CachedKey, KeyUsage } from '../auth/authenticate.ts';
import type { KeyCache } from '../auth/key-cache.ts';
import type { LiveViewers } from '../auth/live-viewers.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { Notifier } from '../realtime/notifier.ts';
import type { Keyring } from '../store/cipher.ts';
import type { Files } from '../store/files.ts';
import type { Store } from '../store/store.ts';
import type { LegacyUsage } from './legacy-usage.ts';
import type { Limits } from './limits/limits.ts';
import type { OpenStreams } from './limits/open-streams.ts';
import type { Maintenance } from './maintenance-mode.ts';
import type { MeteringRates } from './metering-rates.ts';
import type { Patterns } from './patterns.ts';

/** A structured logger (pino's shape, as far as we use it). Never given a secret. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Limits of running sessions, over all processes; null: no limit. */
export interface ConcurrencyLimits {
  /** In each organization that has no limit of its own. */
  readonly perOrganization: number | null;
  /** Of each user, or service user, in one organization. */
  readonly perUser: number | null;
}

/** What every domain function works with: built once by the app. */
export interface Services {
  readonly store: Store;
  readonly notifier: Notifier;
  readonly keyring: Keyring;
  /** What is too large for the database. */
  readonly files: Files;
  readonly maxAttachmentBytes: number;
  /** The keys that have been read, as long as none has changed. */
  readonly keyCache: KeyCache<CachedKey>;
  /** Where the use of keys is noted. */
  readonly keyUsage: KeyUsage;
  /** Where calls of routes that clients should leave are counted. */
  readonly legacyUsage: LegacyUsage;
  /** Whose sockets and streams are open. */
  readonly liveViewers: LiveViewers;
  /** How many of them each principal has. */
  readonly openStreams: OpenStreams;
  /** How much each key, and each address, may ask in a minute. */
  readonly limits: Limits;
  readonly metering: MeteringRates;
  /** Where the regular expressions of automations run. */
  readonly patterns: Patterns;
  /** The most sessions that run at once, over all processes. */
  readonly concurrencyLimits: ConcurrencyLimits;
  /** Whether webhooks may be sent to own networks, and unencrypted. */
  readonly isPrivateWebhookAllowed: boolean;
  readonly log: Log;
  /** The only source of times; tests move it. */
  readonly now: () => Date;
  /** What `url` fields link to, without a slash at the end. */
  readonly baseUrl: string;
  readonly agentProfiles: ReadonlyMap<string, AgentProfile>;
  readonly defaultAgent: string;
  readonly maintenance: Maintenance;
}

/** Who acts, from where, with what. The first parameter of every domain function. */
export interface Context extends Services {
  readonly viewer: Viewer;
  /** The caller's network address, for the audit log; null inside the service. */
  readonly address: string | null;
  /** The caller is the web console: version 1 has words of its own for what is asked for there. */
  readonly isConsole?: boolean;
}
