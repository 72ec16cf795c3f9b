import { createAgents } from '../agents/acp/agents.ts';
import type { AgentProfile } from '../agents/agent.ts';
import { type CheckOptions, checkAgent } from '../agents/check/check-agent.ts';
import type { AgentReport } from '../agents/check/report.ts';
import { openDrivers } from '../agents/sandbox/drivers.ts';
import type { Config } from '../config/config.ts';
import { toolList } from '../domain/execution/reports/tool-list.ts';

const silent = { info: () => undefined, warn: () => undefined };

/** The paths that no agent in a sandbox may see. */
export function hiddenPaths({ dataDir, attachmentsDir, agentsDir, agentsConfig }: Config): string[] {
  return [dataDir, attachmentsDir, agentsDir, ...(agentsConfig === null ? [] : [agentsConfig])];
}

/** Checks an agent in a sandbox like those of sessions; see {@link checkAgent}. */
export function checkProfile(
  config: Config,
  profile: AgentProfile,
  { prompt, onOffer, onStep }: Pick<CheckOptions, 'prompt' | 'onOffer' | 'onStep'>,
): Promise<AgentReport> {
  const { agentBaseEnv: baseEnv, sandbox: choice } = config;
  return checkAgent({
    profile,
    prompt,
    ...(onOffer && { onOffer }),
    ...(onStep && { onStep }),
    tools: toolList({
      schema: null,
      totpKeys: ['NAME'],
      hasKnowledge: true,
      hasPullRequests: true,
      isReview: false,
      askTool: profile.askTool,
    }),
    async open(directory) {
      const workerId = `check-${process.pid}`;
      const path = baseEnv.PATH ?? '';
      const hidden = hiddenPaths(config);
      const drivers = await openDrivers({ choice, dataDir: directory, workerId, baseEnv, path, hidden, log: silent });
      return { agents: createAgents({ drivers }), driver: drivers.defaultName, close: drivers.close };
    },
  });
}
