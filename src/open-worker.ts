import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAgents } from './agents/acp/agents.ts';
import { createIsolation } from './agents/isolation/isolation.ts';
import { unchosenModels } from './agents/profiles/model-choice.ts';
import { missingPrograms } from './agents/profiles/programs.ts';
import { enterprisePermissions, organizationPermissions } from './auth/permissions.ts';
import { systemViewer } from './auth/viewer.ts';
import type { Config } from './config/config.ts';
import type { Context, Services } from './domain/context.ts';
import { capacityOf } from './domain/runs/capacity.ts';
import { createWorker, type Worker } from './domain/runs/worker.ts';

/** How often the queue of sessions is read without a notification. */
const queuePollMs = 2_000;

/** Builds the worker of a process. Logs a warning for each agent program or model that is missing. */
export async function openWorker(config: Config, services: Services, enterpriseId: string): Promise<Worker> {
  const missing = await missingPrograms(services.agentProfiles.values(), config.agentBaseEnv.PATH ?? '');
  const unchosen = unchosenModels(services.agentProfiles.values());
  for (const sentence of [...missing, ...unchosen]) services.log.warn({}, sentence);
  const workerId = await readWorkerId(config.dataDir);
  const { agentBaseEnv: baseEnv, dataDir } = config;
  const isolation = await createIsolation({
    choice: config.sandbox,
    directory: join(dataDir, 'sandbox'),
    path: baseEnv.PATH ?? '',
    hidden: [dataDir, config.attachmentsDir, ...(config.agentsConfig === null ? [] : [config.agentsConfig])],
    log: services.log,
  });
  const agents = await createAgents({
    baseEnv,
    isolation,
    log: services.log,
    workerId,
    spoolDir: join(dataDir, 'agents'),
  });
  const viewer = systemViewer(enterpriseId, [...enterprisePermissions, ...organizationPermissions]);
  const context: Context = Object.create(services, {
    viewer: { value: viewer, enumerable: true },
    address: { value: null, enumerable: true },
  });
  const { leaseMs, affinityMs } = config;
  const options = { workerId, agents, dataDir, leaseMs, affinityMs, pollMs: queuePollMs };
  return createWorker(context, { ...options, ...capacityOf(config) });
}

// The id lives in the locked directory, so that a restarted worker recognizes its own leases and agents.
async function readWorkerId(dataDir: string): Promise<string> {
  const path = join(dataDir, 'worker.id');
  const found = await readFile(path, 'utf8').catch(() => '');
  if (/^[0-9a-f]{16}$/.test(found.trim())) return found.trim();
  const id = randomBytes(8).toString('hex');
  await writeFile(path, `${id}\n`, { mode: 0o600 });
  return id;
}
