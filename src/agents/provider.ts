import type { ModelProvider } from '../providers/model-providers.ts';

/** The provider of the model that an agent calls. */
export interface ProviderSettings {
  /** The variables that hold its keys. Secrets of a session or an organization cannot override them. */
  readonly variables: readonly string[];
  /** The provider's key, if the service knows it and the gateway uses it. The agent never gets it; never log it. */
  readonly key: string | null;
  /** Names the source of {@link ProviderSettings.key} inside a sentence, such as `the variable OPENAI_API_KEY of the service`. */
  readonly keySource: string | null;
  /** The gateway's settings for the provider; null: the agent calls the provider itself, with the key in its `env`. */
  readonly gateway: ProviderGateway | null;
  /**
   * The providers that the agent can call through the gateway with stored keys, and with keys of the service where a route
   * has one; the preferred first. Empty: it uses the settings above alone. A run uses one route; see route-launch.ts.
   */
  readonly routes: readonly ProviderRoute[];
  /** True if the agent must not start without a key: it would ask for a login, or use a free service. */
  readonly isKeyRequired: boolean;
}

/** The models of a run. */
export interface LaunchModels {
  /** The provider's id of the model; null: the agent's own choice. */
  readonly model: string | null;
  /** The ids of the models that the agent may offer to users. Text of the provider, which may be hostile. */
  readonly listed: readonly string[];
}

/** The choice of a model if nobody chooses one. */
export interface DefaultModel {
  /** The newest listed model that matches; null: any that can chat. */
  readonly pattern: RegExp | null;
  /** The model if the provider's list is not known; null: there must be a list. */
  readonly fallback: string | null;
}

/** The way in which an agent calls one model provider through the gateway. */
export interface ProviderRoute {
  readonly provider: ModelProvider;
  readonly api: ProviderGateway['api'];
  /** The key of the service's own environment; null: it has none for this provider. */
  readonly own: OwnKey | null;
  /** Null: the agent has a default for this provider. */
  readonly defaultModel: DefaultModel | null;
  /** Precedes the id of a model in the agent's own option `model`, such as `openai/`. */
  readonly modelPrefix: string;
  /** Variables for the agent, in the form of {@link ProviderGateway.env}. */
  env(models: LaunchModels): Readonly<Record<string, string>>;
}

/** A provider's key in the configuration of the service. */
export interface OwnKey {
  /** Null: the server needs none. Never log it. */
  readonly key: string | null;
  /** As {@link ProviderSettings.keySource}. */
  readonly source: string;
  /** As {@link ProviderGateway.baseUrl}. */
  readonly baseUrl: string;
}

/** A provider behind the gateway. */
export interface ProviderGateway {
  readonly api: 'openai' | 'anthropic' | 'gemini';
  /** Without a trailing slash. The path of a call to the gateway is appended to it. */
  readonly baseUrl: string;
  /**
   * Variables for the agent, over its `env`: `{url}` is replaced by the gateway's address, `{key}` by the gateway's
   * key.
   */
  readonly env: Readonly<Record<string, string>>;
}

/** A failure that every further call of the agent's model would have, until a user changes something. */
export interface ProviderFailure {
  readonly code:
    | 'KEY_MISSING'
    | 'KEY_CHANGED'
    | 'KEY_REFUSED'
    | 'ACCOUNT_EMPTY'
    | 'NOT_FOUND'
    | 'NOT_REACHABLE'
    | 'PRICE_UNKNOWN';
  /** Names the key and the remedy, for users. Contains no secret and nothing that the provider wrote. */
  readonly message: string;
}
