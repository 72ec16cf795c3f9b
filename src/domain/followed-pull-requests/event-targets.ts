import type { ForgeEvent } from '../../forges/interface/events.ts';
import type { Check } from '../../forges/interface/pull-requests.ts';

/** The pull requests of a repository that an event is about. */
export interface EventTargets {
  readonly numbers: readonly number[];
  /** The heads of these commits. */
  readonly commits: readonly string[];
  /** Those whose head is one of these branches. */
  readonly headBranches: readonly string[];
  /** Those whose base is one of these branches: they may conflict now. */
  readonly baseBranches: readonly string[];
  readonly pace: EventPace;
}

/**
 * The time of the read that an event causes. `now`: at once. `prompt`: at once too, but a moment after the last read.
 * `frequent`: a while after the last read, because such events come in numbers. `ended`: a check ended without a failure,
 * which is prompt if another check has failed, since the failure waits for the last check, and otherwise frequent.
 */
export type EventPace = 'now' | 'prompt' | 'ended' | 'frequent';

const none = { numbers: [], commits: [], headBranches: [], baseBranches: [], pace: 'now' } as const;

/** Selects the pull requests of an event. Its other content does not count: the pull requests are read through the API. */
export function targetsOf(event: ForgeEvent): EventTargets {
  switch (event.type) {
    case 'pull_request':
      return { ...none, numbers: [event.pullRequest.number] };
    case 'review':
    case 'comment':
      return { ...none, numbers: [event.number] };
    case 'check': {
      const headBranches = event.branch === null ? [] : [event.branch];
      return { ...none, numbers: event.pullRequests, commits: [event.commit], headBranches, pace: paceOf(event.check) };
    }
    case 'push': {
      const branch = /^refs\/heads\/(.+)$/.exec(event.ref)?.[1];
      if (branch === undefined) return none;
      return { ...none, headBranches: [branch], baseBranches: [branch], pace: 'frequent' };
    }
  }
}

function paceOf({ state }: Check): EventPace {
  if (state === 'failed') return 'prompt';
  return state === 'queued' || state === 'running' ? 'frequent' : 'ended';
}
