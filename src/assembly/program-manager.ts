import { hostname } from 'node:os';
import type { AgentReport } from '../agents/check/report.ts';
import { configuredKey } from '../agents/profiles/usable-providers.ts';
import { detectedProfile } from '../agents/profiles.ts';
import {
  type InstallOptions,
  installProgram,
  removeProgram,
  tidyPrograms,
} from '../agents/programs/install-program.ts';
import { agentPackages } from '../agents/programs/packages.ts';
import { ProgramError } from '../agents/programs/program-error.ts';
import type { Config } from '../config/config.ts';
import type { Services } from '../domain/context.ts';
import { createMask } from '../domain/execution/runs/masking.ts';
import { profileSecrets } from '../domain/execution/runs/run-secrets.ts';
import {
  beginPrograms,
  endPrograms,
  endRequest,
  type ProgramAct,
  publishPrograms,
  readRequests,
  reportProgress,
} from '../domain/installation/agent-programs/program-rows.ts';
import { checkProfile } from './check-profile.ts';
import { shortenReport } from './shorten-report.ts';

/** Publishes the programs of a worker's host, and changes them as administrators request. */
export interface ProgramManager {
  /** Publishes the programs as the registry of this process knows them. Returns true if they have changed. */
  publish(): Promise<boolean>;
  /** Carries out the requests that wait, if it is not doing so. Never rejects. */
  work(): void;
  start(): Promise<void>;
  /** Stops an installation that is running. */
  stop(): Promise<void>;
}

/** Time that a worker waits for another one that installs the same program in a shared directory. */
const busyMs = 2_000;
const maxBusyWaits = 300;

/** Time between two reports of the progress of a check. */
const checkProgressMs = 1_000;

/** Returns the package to install for an agent, and its lock, instead of the pinned ones. */
export type PackageOf = (agentId: string) => InstallOptions['from'];

interface ProgramManagerOptions {
  readonly workerId: string;
  /** The enterprise of the installation. */
  readonly enterpriseId: string;
  readonly packageOf?: PackageOf | undefined;
}

/** Creates the {@link ProgramManager} of a worker. */
export function createProgramManager(
  config: Config,
  services: Services,
  { workerId, enterpriseId, packageOf }: ProgramManagerOptions,
): ProgramManager {
  const { store, agents, notifier, log } = services;
  const { agentsDir, canInstallAgents: canInstall, npmEnv: env, readVariable } = config;
  const stopping = new AbortController();
  const ids = Object.keys(agentPackages);
  let published = '';
  let working: Promise<void> | null = null;
  let isAgain = false;

  const publish = async () => {
    const rows = await Promise.all(
      ids.map(async (agentId) => {
        const profile = agents.profiles.get(agentId) ?? (await detectedProfile(agentId, readVariable));
        return { agentId, hasKey: configuredKey(profile) === 'present', program: agents.programs.get(agentId) ?? null };
      }),
    );
    await publishPrograms(store, { workerId, enterpriseId, host: hostname(), canInstall, agents: rows });
    const text = JSON.stringify(rows);
    const isChanged = text !== published;
    published = text;
    return isChanged;
  };

  const install = async (agentId: string) => {
    let shownText = '';
    const onProgress = ({ text, percent }: { text: string; percent: number }) => {
      if (text === shownText) return;
      shownText = text;
      reportProgress(store, { workerId, agentId, text, percent }).catch(() => undefined);
    };
    for (let waits = 0; ; waits += 1) {
      try {
        const from = packageOf?.(agentId);
        await installProgram(agentId, { agentsDir, env, signal: stopping.signal, onProgress, ...(from && { from }) });
        return;
      } catch (error) {
        const isBusy = error instanceof ProgramError && error.code === 'BUSY' && waits < maxBusyWaits;
        if (!isBusy || stopping.signal.aborted) throw error;
        await new Promise((resolve) => setTimeout(resolve, busyMs).unref());
        await agents.refresh();
        // The other worker has installed it for this one too.
        if (agents.versionOf(agentId) === agentPackages[agentId]?.version) return;
      }
    }
  };

  const check = async (agentId: string): Promise<AgentReport> => {
    const profile = agents.profiles.get(agentId) ?? (await detectedProfile(agentId, readVariable));
    const startedAt = performance.now();
    let step = '';
    const show = () => {
      const text = `${step} (${Math.round((performance.now() - startedAt) / 1_000)} s)`;
      reportProgress(store, { workerId, agentId, text, percent: null }).catch(() => undefined);
    };
    const timer = setInterval(show, checkProgressMs).unref();
    const onStep = (next: string) => {
      step = next;
      show();
    };
    const report = await checkProfile(config, profile, { prompt: null, onStep }).finally(() => clearInterval(timer));
    return shortenReport(report, createMask(profileSecrets(profile)));
  };

  const carryOut = async (agentId: string, request: ProgramAct) => {
    let error: string | null = null;
    let report: AgentReport | undefined;
    try {
      if (request === 'check') report = await check(agentId);
      else if (!canInstall) throw new ProgramError('SWITCHED_OFF', 'AGENTS_INSTALL is off on this host.');
      else if (request === 'install') await install(agentId);
      else await removeProgram(agentId, agentsDir);
    } catch (problem) {
      if (!(problem instanceof ProgramError))
        log.error({ err: problem, agentId, request }, 'A change of an agent program failed.');
      error = problem instanceof ProgramError ? problem.message : 'It failed: the log of the service has the reason.';
    }
    await agents.refresh();
    await publish();
    await endRequest(store, { workerId, agentId, request, error, ...(report && { report }) });
    log.info(
      { agentId, request, error },
      error === null ? 'An agent program was changed or checked.' : 'An agent program could not be changed.',
    );
    notifier.notify('agent-programs');
  };

  const workAll = async () => {
    do {
      isAgain = false;
      for (const { agentId, request } of await readRequests(store, workerId)) {
        if (stopping.signal.aborted) return;
        await carryOut(agentId, request);
      }
    } while (isAgain);
  };

  return {
    publish,
    work() {
      if (stopping.signal.aborted) return;
      isAgain = true;
      working ??= workAll()
        .catch((error: unknown) => log.error({ err: error }, 'Changes of agent programs could not be carried out.'))
        .finally(() => {
          working = null;
        });
    },
    async start() {
      if (canInstall) {
        await tidyPrograms(agentsDir).catch((error: unknown) =>
          log.warn({ err: error }, 'AGENTS_DIR could not be cleaned up: it may contain interrupted installations.'),
        );
      }
      await beginPrograms(store, workerId);
    },
    async stop() {
      stopping.abort();
      await working;
      await endPrograms(store, workerId).catch(() => undefined);
    },
  };
}
