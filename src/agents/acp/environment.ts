import { join } from 'node:path';
import type { AgentLaunch, AgentUpdate } from '../agent.ts';
import { type Gateway, openGateway } from '../gateway/gateway.ts';
import { gatewayPort, gatewaySocketIn } from '../sandbox/sandbox-command.ts';

/** The gateway of one launch, and the agent's settings for it. */
export interface AgentGateway {
  readonly gateway: Gateway;
  /** For an agent without a network: the socket that is its only connection. */
  readonly socketPath: string | null;
  /** Variables that override all others. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Opens the gateway that the profile requires, until the launch is revoked; null if it requires none. Rejects if the
 * gateway cannot listen.
 */
export async function openAgentGateway(
  launch: AgentLaunch,
  onUsage: (usage: Extract<AgentUpdate, { type: 'usage' }>) => void,
): Promise<AgentGateway | null> {
  const { provider, sandbox } = launch.profile;
  if (!provider?.gateway) return null;
  const isAlone = sandbox !== null && sandbox.driver !== 'none' && sandbox.network === 'gateway';
  const socketPath = isAlone ? gatewaySocketIn(launch.runtimeDir) : null;
  const behind = { ...provider, gateway: provider.gateway };
  const mask = provider.key === null ? undefined : launch.maskOf?.([provider.key]);
  const gateway = await openGateway({ provider: behind, socketPath, onUsage, onTools: launch.onTools, mask });
  const revoke = () => void gateway.close();
  launch.revoked?.addEventListener('abort', revoke, { once: true });
  if (launch.revoked?.aborted) revoke();
  const url = `http://127.0.0.1:${gateway.port ?? gatewayPort}`;
  const fill = (value: string) => value.replaceAll('{url}', url).replaceAll('{key}', gateway.key);
  const env = Object.fromEntries(Object.entries(provider.gateway.env).map(([name, value]) => [name, fill(value)]));
  return { gateway, socketPath, env };
}

/**
 * All variables of an agent, before its driver changes them. Behind a gateway, variables with the provider's keys are
 * removed, whatever their source.
 */
export function agentEnvironment(
  launch: AgentLaunch,
  baseEnv: Readonly<Record<string, string>>,
  gateway: AgentGateway | null,
): Record<string, string> {
  const env = { ...baseEnv, ...launch.profile.env, ...launch.env };
  const withheld = gateway === null ? [] : (launch.profile.provider?.variables ?? []);
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !withheld.includes(name))),
    ...gateway?.env,
  };
}

/** The variables of {@link AgentLaunch.runtimeFiles}, for an agent that sees the runtime directory at this path. */
export function runtimeVariables({ runtimeFiles = {} }: AgentLaunch, runtimeDir: string): Record<string, string> {
  return Object.fromEntries(Object.entries(runtimeFiles).map(([name, file]) => [name, join(runtimeDir, file)]));
}
