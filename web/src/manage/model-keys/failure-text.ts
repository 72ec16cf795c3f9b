import type { ModelProvider } from '../../__generated__/keyFormCreateMutation.graphql.ts';
import { keyState as texts } from '../../texts/model-keys.ts';
import { visible } from '../../ui/visible.ts';
import { providerLabel } from './providers.ts';

/** The server that a model key is for. */
export interface KeyServer {
  readonly provider: ModelProvider;
  /** Null: the provider's own server. */
  readonly baseUrl?: string | null | undefined;
}

/**
 * Returns the service's message of a failed call, for display. If the provider's own server has no address, the cause is
 * the network of the service, not the key.
 */
export function failureText(message: string, { provider, baseUrl }: KeyServer): string {
  const hasNoAddress = /no address that the service is allowed/.test(message);
  return hasNoAddress && !baseUrl ? texts.unreachable({ provider: providerLabel(provider) }) : visible(message);
}
