import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createAgents } from '../agents/acp/agents.ts';
import { unchosenModels } from '../agents/profiles/model-choice.ts';
import { missingPrograms } from '../agents/profiles/programs.ts';
import { openDrivers } from '../agents/sandbox/drivers.ts';
import { enterprisePermissions, organizationPermissions } from '../auth/permissions.ts';
import { systemViewer } from '../auth/viewer.ts';
import { commandLine } from '../common/command-line.ts';
import type { Config } from '../config/config.ts';
import type { Context, Services } from '../domain/context.ts';
import type { MonotonicClock } from '../domain/execution/checkpoints/monotonic-clock.ts';
import { readDueEnvironment } from '../domain/execution/environments/read-environments.ts';
import { capacityOf } from '../domain/execution/runs/capacity.ts';
import { createWorker, type Worker } from '../domain/execution/runs/worker.ts';
import { adoptWorkspaces } from '../domain/execution/workspaces/adopt.ts';
import type { Installation } from '../domain/installation/bootstrap.ts';
import { createEnvironmentReads } from '../jobs/environment-reads.ts';
import { hiddenPaths } from './check-profile.ts';
import { createProgramManager, type PackageOf, type ProgramManager } from './program-manager.ts';
import { forgetFormerIds, readWorkerIdentity } from './worker-identity.ts';

/** The interval at which the session queue is polled without a notification. */
const queuePollMs = 2_000;

/** The worker of a process, and the manager of its host's agent programs. */
export interface OpenedWorker {
  readonly worker: Worker;
  readonly programs: ProgramManager;
}

/** Parts that the caller may provide. */
interface WorkerParts {
  readonly openDrivers?: typeof openDrivers;
  readonly packageOf?: PackageOf;
  readonly checkpointClock?: MonotonicClock;
}

/** Builds the worker of a process. Logs a warning for each agent program or model that is missing. */
export async function openWorker(
  config: Config,
  services: Services,
  installation: Installation,
  { openDrivers: open = openDrivers, packageOf, checkpointClock }: WorkerParts,
): Promise<OpenedWorker> {
  const missing = await missingPrograms(services.agentProfiles.values(), config.agentBaseEnv.PATH ?? '');
  const unchosen = unchosenModels(services.agentProfiles.values());
  for (const warning of [...missing, ...unchosen]) services.log.warn({}, warning);
  const workerId = await identifyWorker(config, services, installation);
  const { agentBaseEnv: baseEnv, dataDir } = config;
  const drivers = await open({
    choice: config.sandbox,
    dataDir,
    workerId,
    baseEnv,
    path: baseEnv.PATH ?? '',
    hidden: hiddenPaths(config),
    mirrorLimits: limitsOfMirrors(config),
    log: services.log,
  });
  const agents = createAgents({ drivers });
  const viewer = systemViewer(installation.enterpriseId, [...enterprisePermissions, ...organizationPermissions]);
  const context: Context = Object.create(services, {
    viewer: { value: viewer, enumerable: true },
    address: { value: null, enumerable: true },
  });
  const { leaseMs, affinityMs, storedAffinityMs } = config;
  const times = { leaseMs, affinityMs, storedAffinityMs, pollMs: queuePollMs, workspaceTimes: config };
  const options = { workerId, agents, host: hostname(), checkpointClock, ...times };
  const worker = createWorker(context, { ...options, ...capacityOf(config) });
  const reads = createEnvironmentReads(services, (signal) => readDueEnvironment(context, agents, signal));
  const start = async () => {
    await worker.start();
    reads.start();
  };
  const stop = async () => {
    await reads.stop();
    await worker.stop();
    await drivers.close();
  };
  return {
    worker: { ...worker, start, stop },
    programs: createProgramManager(config, services, {
      workerId,
      enterpriseId: installation.enterpriseId,
      packageOf,
    }),
  };
}

async function identifyWorker(
  { dataDir, databaseUrl }: Config,
  { store, log }: Services,
  { isCopy: isCopiedDatabase, maintenanceSince }: Installation,
): Promise<string> {
  const { id, isCopy, formerIds } = await readWorkerIdentity(dataDir);
  if (isCopy) {
    // Records about the agents of the original, which must keep running.
    await rm(join(dataDir, 'agents'), { recursive: true, force: true });
    const message =
      'The data directory is a copy: this worker has a new id and leaves the agents of the original alone.';
    log.warn({ workerId: id, formerIds }, message);
  }
  if (formerIds.length === 0) return id;
  // The original uses another database, so nothing else uses these workspaces here.
  if (databaseUrl === null || isCopiedDatabase || maintenanceSince !== null) {
    await adoptWorkspaces({ store }, id, formerIds);
    await forgetFormerIds(dataDir, id);
  } else {
    const message = `Sessions wait for the original of this data directory. If this copy replaces it, stop the service and run "${commandLine('workspaces', 'adopt')}".`;
    log.warn({ formerIds }, message);
  }
  return id;
}

// A mirror keeps what forced pushes removed.
function limitsOfMirrors({ maxRepositoryBytes, maxMirrorsBytes }: Config) {
  return {
    maxFetchBytes: maxRepositoryBytes,
    maxTreeBytes: 2 * maxRepositoryBytes,
    maxMirrorBytes: 2 * maxRepositoryBytes,
    maxTotalBytes: maxMirrorsBytes,
  };
}
