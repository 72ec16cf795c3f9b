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
  const wanted = pullRequestNumber == null ? (requestedRef ?? 'Default branch') : `Pull request #${pullRequestNumber}`;
  const name = pullRequestNumber == null ? (baseRef ?? wanted) : wanted;
  if (baseCommit == null) return name;
  // A commit that was requested is its own name.
  return name === baseCommit ? name.slice(0, 7) : `${name} at ${baseCommit.slice(0, 7)}`;
}

type Tone = 'plain' | 'info' | 'good' | 'bad';

const states: Readonly<Record<string, { readonly label: string; readonly tone: Tone }>> = {
  PENDING: { label: 'Not cloned yet', tone: 'plain' },
  CLONING: { label: 'Cloning', tone: 'info' },
  READY: { label: 'Ready', tone: 'good' },
  FAILED: { label: 'Failed', tone: 'bad' },
};

/** Returns the state of a repository for display. */
export const repositoryState = (state: string) => states[state] ?? { label: state, tone: 'plain' as const };
