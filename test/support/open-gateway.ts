import { onTestFinished } from 'vitest';
import type { AgentUpdate } from '../../src/agents/agent.ts';
import { type Gateway, type GatewayOptions, openGateway } from '../../src/agents/gateway/gateway.ts';
import type { ProviderGateway } from '../../src/agents/provider.ts';
import { gatewayOf } from './provider.ts';
import { connectRaw, type Wire } from './raw-http.ts';

/** A gateway that closes at the end of its test. */
export interface OpenGateway {
  readonly gateway: Gateway;
  readonly usages: Extract<AgentUpdate, { type: 'usage' }>[];
  /** Resolves with the first reported usage. */
  readonly firstUsage: Promise<unknown>;
  /** The header line with the run's key. */
  readonly auth: string;
  connect(): Wire;
}

/** Opens a gateway to the provider at `url`. */
export async function openTestGateway(
  url: string,
  options: Partial<GatewayOptions> = {},
  api: ProviderGateway['api'] = 'openai',
): Promise<OpenGateway> {
  const usages: OpenGateway['usages'] = [];
  let resolveUsage: (usage: unknown) => void = () => undefined;
  const firstUsage = new Promise((resolve) => {
    resolveUsage = resolve;
  });
  const gateway = await openGateway({
    ...gatewayOf(url, api),
    socketPath: null,
    onUsage: (usage) => {
      usages.push(usage);
      resolveUsage(usage);
    },
    ...options,
  });
  onTestFinished(() => gateway.close());
  const connect = () => connectRaw(gateway.port as number);
  return { gateway, usages, firstUsage, auth: `Host: gateway\r\nAuthorization: Bearer ${gateway.key}\r\n`, connect };
}
