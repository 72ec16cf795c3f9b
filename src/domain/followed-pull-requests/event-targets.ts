import type { ForgeEvent } from '../../forges/interface/events.ts';

/** The pull requests of a repository that an event is about. */
export interface EventTargets {
  readonly numbers: readonly number[];
  /** The heads of these commits. */
  readonly commits: readonly string[];
  /** Those whose head is one of these branches. */
  readonly headBranches: readonly string[];
  /** Those whose base is one of these branches: they may conflict now. */
  readonly baseBranches: readonly string[];
  /** True: a pull request that was read a moment ago is read again only after a while, because such events come in numbers. */
  readonly isFrequent: boolean;
}

const none = { numbers: [], commits: [], headBranches: [], baseBranches: [], isFrequent: false } as const;

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
      return { ...none, numbers: event.pullRequests, commits: [event.commit], headBranches, isFrequent: true };
    }
    case 'push': {
      const branch = /^refs\/heads\/(.+)$/.exec(event.ref)?.[1];
      if (branch === undefined) return none;
      return { ...none, headBranches: [branch], baseBranches: [branch], isFrequent: true };
    }
  }
}
