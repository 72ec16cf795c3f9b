import { isRefName } from './ref-names.ts';

/** The refs of a remote repository that a clone needs. */
export interface RemoteRefs {
  /** Object ids by full name, such as `refs/heads/main`. The id of an annotated tag is its own. */
  readonly ids: ReadonlyMap<string, string>;
  /** The name of its default branch; null: it has none. */
  readonly defaultBranch: string | null;
}

/** The requested state of a repository: at most one of its fields is set. */
export interface RequestedState {
  /** A branch, tag or commit; null: the default branch, or the pull request. */
  readonly ref: string | null;
  /** A pull request, or merge request; null: none. */
  readonly pullRequest: number | null;
}

/** Tells if a text is the whole id of an object, or an abbreviation that is unlikely to be a branch. */
export function isObjectId(text: string): boolean {
  return /^[0-9a-f]{7,64}$/.test(text);
}

/** Returns the full names that could be meant, best first. Empty: no ref has such a name. */
export function candidatesOf({ ref, pullRequest }: RequestedState): string[] {
  if (pullRequest !== null) return [`refs/pull/${pullRequest}/head`, `refs/merge-requests/${pullRequest}/head`];
  if (ref === null) return [];
  const names = ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
  return names.filter(isRefName);
}

/** Reads the output of `git ls-remote --symref`. */
export function readRemoteRefs(output: string): RemoteRefs {
  const ids = new Map<string, string>();
  let defaultBranch: string | null = null;
  for (const line of output.split('\n')) {
    const [first = '', name = ''] = line.split('\t');
    if (first.startsWith('ref: refs/heads/') && name === 'HEAD') defaultBranch = first.slice('ref: refs/heads/'.length);
    else if (/^[0-9a-f]{40,64}$/.test(first) && name !== '') ids.set(name, first);
  }
  const head = ids.get('HEAD');
  if (defaultBranch === null || head === undefined || !isRefName(`refs/heads/${defaultBranch}`))
    return { ids, defaultBranch: null };
  ids.set(`refs/heads/${defaultBranch}`, head);
  return { ids, defaultBranch };
}
