import { posix } from 'node:path';
import type { AgentLaunch, AgentUpdate } from '../agent.ts';
import { type Gateway, openGateway } from '../gateway/gateway.ts';
import { profileCredential } from '../profiles/profile-credential.ts';
import type { Service } from '../sandbox/driver.ts';

/** The gateway of one launch, and the agent's settings for it. */
export interface AgentGateway {
  readonly gateway: Gateway;
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
  const { provider } = launch.profile;
  if (!provider?.gateway) return null;
  const { onTools, onOutcome, maskOf, startSpan } = launch;
  const { api } = provider.gateway;
  const own = profileCredential(launch.profile.id, provider, provider.gateway);
  const credential = launch.credential ?? (() => own);
  const service: Service<Gateway> = {
    name: 'llm',
    protocol: 'http',
    listen: (socketPath) =>
      openGateway({ api, credential, socketPath, onUsage, onTools, onOutcome, maskOf, startSpan }),
  };
  const { address: url, listening: gateway } = await launch.sandbox.reach(service);
  const revoke = () => void gateway.close();
  launch.revoked?.addEventListener('abort', revoke, { once: true });
  if (launch.revoked?.aborted) revoke();
  const fill = (value: string) => value.replaceAll('{url}', url).replaceAll('{key}', gateway.key);
  const env = Object.fromEntries(Object.entries(provider.gateway.env).map(([name, value]) => [name, fill(value)]));
  return { gateway, env };
}

/**
 * The variables of an agent, besides those that its driver sets. Behind a gateway, variables with the provider's keys
 * are removed, whatever their source.
 */
export function agentEnvironment(launch: AgentLaunch, gateway: AgentGateway | null): Record<string, string> {
  const { profile, sandbox, runtimeFiles = {} } = launch;
  const paths = Object.entries(runtimeFiles).map(([name, file]) => [name, posix.join(sandbox.paths.runtime, file)]);
  const env: Record<string, string> = { ...Object.fromEntries(paths), ...profile.env, ...launch.env };
  const withheld = gateway === null ? [] : (profile.provider?.variables ?? []);
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !withheld.includes(name))),
    ...launch.serviceEnv,
    ...gateway?.env,
  };
}
