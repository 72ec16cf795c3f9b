import { type FSWatcher, watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { changeFile } from '../agents/programs/install-program.ts';
import type { Services } from '../domain/context.ts';
import { readPublished } from '../domain/installation/agent-programs/program-rows.ts';
import { findStoredProviders } from '../domain/library/provider-keys/resolve.ts';
import type { Topic } from '../realtime/topics.ts';
import type { ProgramManager } from './program-manager.ts';

/** The interval at which programs are searched without a notification: they may be installed by other means. */
const refreshMs = 60_000;

const topics: readonly Topic[] = ['agent-programs', 'provider-keys'];

/** Keeps the agents of a process up to date with its programs and the stored keys. */
export interface AgentWatch {
  /** Resolves when the agents are known. Rejects if the database cannot be read. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Creates the {@link AgentWatch} of a process; `programs`: null without the worker role. */
export function createAgentWatch(services: Services, agentsDir: string, programs: ProgramManager | null): AgentWatch {
  const { agents, notifier, log, store } = services;
  let watcher: FSWatcher | null = null;
  let unsubscribes: (() => void)[] = [];
  let timer: NodeJS.Timeout | null = null;
  let refreshing: Promise<void> | null = null;
  let isAgain = false;

  const refresh = async () => {
    if (programs !== null) {
      await agents.refresh();
      if (await programs.publish()) notifier.notify('agent-programs');
    }
    const [stored, published] = await Promise.all([findStoredProviders(services, null), readPublished(store)]);
    await agents.refresh({ published, storedProviders: stored.map(({ provider }) => provider) });
  };
  const refreshAll = async () => {
    do {
      isAgain = false;
      await refresh();
    } while (isAgain);
  };
  const poll = () => {
    isAgain = true;
    programs?.work();
    refreshing ??= refreshAll()
      .catch((error: unknown) => log.warn({ err: error }, 'The agents of this process could not be refreshed.'))
      .finally(() => {
        refreshing = null;
      });
  };
  // The command of the operator changes programs in another process. Without the watcher, the next poll finds them.
  const watchDirectory = async () => {
    try {
      await mkdir(agentsDir, { recursive: true, mode: 0o755 });
      watcher = watch(agentsDir, (_event, name) => {
        if (name === changeFile) poll();
      });
      watcher.unref().on('error', () => watcher?.close());
    } catch {
      watcher = null;
    }
  };
  return {
    async start() {
      await programs?.start();
      if (programs !== null) await watchDirectory();
      unsubscribes = topics.map((topic) => notifier.subscribe(topic, poll));
      timer = setInterval(poll, refreshMs).unref();
      await refresh();
    },
    async stop() {
      watcher?.close();
      for (const unsubscribe of unsubscribes) unsubscribe();
      if (timer !== null) clearInterval(timer);
      isAgain = false;
      await refreshing;
      await programs?.stop();
    },
  };
}
