import { common } from '../texts/common.ts';
import { repositoryText as texts } from '../texts/repository-text.ts';

/** Hosts whose repositories need no host in their name. */
const knownHosts: ReadonlySet<string> = new Set(['github.com', 'gitlab.com', 'bitbucket.org']);

/** Returns the name of a repository: `acme/site`, or `git.example/acme/site` for a host that is not well known. */
export function repositoryName({ host, path }: { readonly host: string; readonly path: string }): string {
  return knownHosts.has(host) ? path : `${host}/${path}`;
}

/** The facts about the base of a session's repository. */
export interface BaseFacts {
  readonly baseRef: string | null | undefined;
  readonly baseCommit: string | null | undefined;
  readonly requestedRef: string | null | undefined;
  readonly pullRequestNumber: number | null | undefined;
}

/** Describes the ref and the commit that the work starts from. */
export function baseOf({ baseRef, baseCommit, requestedRef, pullRequestNumber }: BaseFacts): string {
  const wanted =
    pullRequestNumber == null ? (requestedRef ?? common.defaultBranch) : texts.pullRequest({ pullRequestNumber });
  const name = pullRequestNumber == null ? (baseRef ?? wanted) : wanted;
  if (baseCommit == null) return name;
  // A commit that was requested is its own name.
  return name === baseCommit ? name.slice(0, 7) : texts.at({ name, commit: baseCommit.slice(0, 7) });
}

type Tone = 'plain' | 'info' | 'good' | 'bad';

const states: Readonly<Record<string, { readonly label: string; readonly tone: Tone }>> = {
  PENDING: { label: texts.notClonedYet, tone: 'plain' },
  CLONING: { label: texts.cloning, tone: 'info' },
  READY: { label: texts.ready, tone: 'good' },
  FAILED: { label: common.failed, tone: 'bad' },
};

/** Returns the state of a repository for display. */
export const repositoryState = (state: string) => states[state] ?? { label: state, tone: 'plain' as const };
