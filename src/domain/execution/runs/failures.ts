import { AgentCrash, type CrashCause, ProviderCrash } from '../../../agents/agent.ts';
import { isFullError } from '../../../agents/programs/free-space.ts';
import type { ProviderFailure } from '../../../agents/provider.ts';

/** A failure of an agent, for users and clients. */
export interface Failure {
  /** The kind of failure, for the log of the session. */
  readonly code:
    | 'agent_failed'
    | 'agent_not_found'
    | 'agent_login_refused'
    | 'agent_request_refused'
    | 'agent_settings_refused'
    | 'provider_limit'
    | 'provider_key_missing'
    | 'provider_key_refused'
    | 'provider_account_empty'
    | 'provider_not_reachable'
    | 'provider_price_unknown'
    | 'repository_unavailable'
    | 'internal';
  readonly message: string;
  /** True if a retry may succeed. */
  readonly isRetryable: boolean;
}

// Failures that another try cannot fix end the session at once, with advice (docs/agents.md#what-happens-when).
const permanentFailures = {
  crash: null,
  // Not retried as a crash: see quota-waits.ts.
  quota: null,
  // Its message has its own advice.
  provider: null,
  program: {
    code: 'agent_not_found',
    advice:
      'Its program must be installed where the worker runs, or the command of its profile corrected; a message then tries again.',
  },
  login: {
    code: 'agent_login_refused',
    advice: 'Check its key (in the console: Settings, Model keys) or its login, then send a message to continue.',
  },
  request: {
    code: 'agent_request_refused',
    advice:
      'The same would be refused again. Check the model and the provider of its profile, or ask for something else, then send a message to continue.',
  },
  settings: {
    code: 'agent_settings_refused',
    advice: 'Correct its profile, then send a message to continue.',
  },
  limit: {
    code: 'agent_failed',
    advice: 'It would be likely to send that again. Ask for it in another way, or send a message to continue.',
  },
} as const satisfies Record<CrashCause, { code: Failure['code']; advice: string } | null>;

const providerFailures: Readonly<Record<ProviderFailure['code'], Failure['code']>> = {
  KEY_MISSING: 'provider_key_missing',
  KEY_CHANGED: 'provider_key_missing',
  KEY_REFUSED: 'provider_key_refused',
  ACCOUNT_EMPTY: 'provider_account_empty',
  NOT_FOUND: 'provider_not_reachable',
  NOT_REACHABLE: 'provider_not_reachable',
  PRICE_UNKNOWN: 'provider_price_unknown',
};

/** The failure of a session that has waited for its provider for as long as it may. */
export const quotaOver: Failure = {
  code: 'provider_limit',
  message: 'The model’s provider has refused calls because of a limit for 24 hours.',
  isRetryable: true,
};

/** Thrown if a session names an agent that this worker has no profile of. */
export class MissingProfile extends Error {
  constructor(agent: string) {
    super(
      `The agent "${agent}" is not installed or not configured where the session runs. An administrator can install it (Agents, in the ` +
        'console), or add it to AGENTS_CONFIG. Then send a message to let the session go on.',
    );
    this.name = 'MissingProfile';
  }
}

/** A repository of a session that cannot be cloned. The message is a sentence for people. */
export class RepositoryFailure extends Error {
  constructor(message: string) {
    super(`${message} Send a message to try again, or start a session in another repository.`);
    this.name = 'RepositoryFailure';
  }
}

/**
 * Returns the failure for an error that ended a run. The messages of errors other than the agent's stay in the
 * service's own log.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof MissingProfile) return { code: 'agent_not_found', message: error.message, isRetryable: false };
  if (error instanceof RepositoryFailure)
    return { code: 'repository_unavailable', message: error.message, isRetryable: false };
  if (!(error instanceof AgentCrash)) {
    const message = isFullError(error)
      ? 'The disk of the worker is full, so the service could not run the agent.'
      : 'The service could not run the agent. The reason is in the log of the worker.';
    return { code: 'internal', message, isRetryable: true };
  }
  if (error instanceof ProviderCrash) {
    const { code, message } = error.failure;
    return { code: providerFailures[code], message, isRetryable: false };
  }
  const permanentFailure = permanentFailures[error.reason];
  if (permanentFailure === null) return { code: 'agent_failed', message: error.message, isRetryable: true };
  return { code: permanentFailure.code, message: `${error.message} ${permanentFailure.advice}`, isRetryable: false };
}

/** Returns the line of the service's log for a failure. */
export function logLineOf({ code }: Failure, hasStarted: boolean): string {
  if (code === 'repository_unavailable') return 'A repository of a session cannot be used, so its agent did not start.';
  return hasStarted ? 'An agent ended unexpectedly.' : 'An agent could not be started.';
}
