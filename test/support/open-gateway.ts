import { onTestFinished } from 'vitest';
import type { AgentUpdate, ProviderGateway } from '../../src/agents/agent.ts';
import { type Gateway, type GatewayOptions, openGateway } from '../../src/agents/gateway/gateway.ts';
import { behindGateway } from './provider.ts';
import { connectRaw, type Wire } from './raw-http.ts';

/** A gateway of a test, closed at its end. */
export interface OpenGateway {
  readonly gateway: Gateway;
  readonly usages: Extract<AgentUpdate, { type: 'usage' }>[];
  /** Resolves with the first usage that is told. */
  readonly firstUsage: Promise<unknown>;
  /** The header line with the key of the run. */
  readonly auth: string;
  connect(): Wire;
}

/** Opens a gateway before the provider at `url`. */
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
    provider: behindGateway(url, api),
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
