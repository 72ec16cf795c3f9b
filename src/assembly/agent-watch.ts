import type { Services } from '../domain/context.ts';
import { findStoredProviders } from '../domain/library/provider-keys/resolve.ts';
import type { Topic } from '../realtime/topics.ts';

/** The interval at which programs are searched without a notification: they may be installed by other means. */
const refreshMs = 60_000;

const topics: readonly Topic[] = ['agent-programs', 'provider-keys'];

/** Keeps the agents of a process up to date with its programs and the stored keys. */
export interface AgentWatch {
  /** Resolves when the agents are known. Rejects if the database cannot be read. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Creates the {@link AgentWatch} of a process. */
export function createAgentWatch(services: Services): AgentWatch {
  const { agents, notifier, log } = services;
  let unsubscribes: (() => void)[] = [];
  let timer: NodeJS.Timeout | null = null;
  let refreshing: Promise<void> | null = null;
  let isAgain = false;

  const refresh = async () => {
    const stored = await findStoredProviders(services, null);
    await agents.refresh({ storedProviders: stored.map(({ provider }) => provider) });
  };
  const refreshAll = async () => {
    do {
      isAgain = false;
      await refresh();
    } while (isAgain);
  };
  const poll = () => {
    isAgain = true;
    refreshing ??= refreshAll()
      .catch((error: unknown) => log.warn({ err: error }, 'The agents of this process could not be refreshed.'))
      .finally(() => {
        refreshing = null;
      });
  };
  return {
    async start() {
      unsubscribes = topics.map((topic) => notifier.subscribe(topic, poll));
      timer = setInterval(poll, refreshMs).unref();
      await refresh();
    },
    async stop() {
      for (const unsubscribe of unsubscribes) unsubscribe();
      if (timer !== null) clearInterval(timer);
      isAgain = false;
      await refreshing;
    },
  };
}
