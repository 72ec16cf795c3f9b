import { AgentCrash, type AgentUpdate, ProviderCrash } from '../agent.ts';
import { isGivingUp } from '../quota/agent-errors.ts';
import type { Child } from './child.ts';
import type { Requests } from './requests.ts';
import { hasUsage } from './updates.ts';

/** The limit of the model's provider in one turn. */
export interface ProviderLimit {
  /**
   * Rejects with an {@link AgentCrash} if the provider refuses calls for longer than the agent may retry by itself: it cancels
   * the turn before, which stays open. Rejects at once with a {@link ProviderCrash} after a failure that every further call
   * would have.
   */
  readonly reached: Promise<never>;
  /** True if {@link ProviderLimit.reached} has rejected, or will. */
  isReached(): boolean;
  /**
   * Throws an error if a turn that ended normally says by its last message, and without any usage, that a limit was the
   * reason.
   */
  requireNone(lastMessage: string, usage: AgentUpdate & { type: 'usage' }): void;
  /** Returns the error of the turn, with the cause `quota` or `provider` if that was its reason. */
  explain(error: unknown): unknown;
}

/** Watches a turn that begins. Without a gateway, nothing sees the calls of the model, and the agent's own word counts. */
export function watchProviderLimit(
  { quota, failures }: Pick<Child, 'quota' | 'failures'>,
  requests: Requests,
  cancel: () => Promise<void>,
): ProviderLimit {
  const isOver = (text: string, usage: AgentUpdate & { type: 'usage' }) => isGivingUp(text) && !hasUsage(usage);
  if (quota === null || failures === null) {
    return {
      reached: new Promise(() => undefined),
      isReached: () => false,
      requireNone(text, usage) {
        if (isOver(text, usage)) throw requests.quota({ resetMs: null });
      },
      explain: (error) => error,
    };
  }
  let isReached = false;
  quota.begin();
  failures.begin();
  const overdue = quota.overdue().then(async () => {
    // Created first: an agent may take long to end its turn.
    const crash = requests.quota(quota.last() ?? { resetMs: null });
    isReached = true;
    await cancel();
    throw crash;
  });
  const failed = failures.reached().then((failure) => {
    throw new ProviderCrash(failure);
  });
  const reached = Promise.race([overdue, failed]);
  for (const each of [overdue, failed, reached]) each.catch(() => undefined);
  return {
    reached,
    isReached: () => isReached || failures.last() !== null,
    requireNone(text, usage) {
      const refusal = quota.last();
      if (refusal !== null && isOver(text, usage)) throw requests.quota(refusal);
    },
    // Behind a gateway only its word counts: an agent can't invent a limit, and may end in any way because of one.
    explain(error) {
      const failure = failures.last();
      if (failure !== null) return error instanceof ProviderCrash ? error : new ProviderCrash(failure);
      if (isReached || !(error instanceof AgentCrash)) return error;
      const refusal = quota.last();
      const isLimited = error.reason === 'quota' || (error.reason === 'crash' && quota.isRefused());
      if (refusal !== null && isLimited) return requests.quota(refusal);
      return error.reason === 'quota' ? requests.crash(error.message) : error;
    },
  };
}
