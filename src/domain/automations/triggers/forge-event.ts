import { parseUrl } from '../../../common/parse-url.ts';
import type { ForgeDelivery } from '../../../forges/interface/events.ts';
import type { ForgeKind } from '../../../forges/interface/forge.ts';
import { isBranchName } from '../../../forges/support/text.ts';
import { isForgeEvent } from '../model/event-types.ts';
import { type EventJson, valueAt } from './match-conditions.ts';

const sources: Readonly<Record<ForgeKind, string | null>> = {
  'github_app': 'github',
  'github_token': 'github',
  'gitlab_token': 'gitlab',
  'gitea_token': 'gitea',
  'git_https': null,
};

/** Returns the event type of a delivery, such as `github:issues`; null: triggers cannot name it. */
export function forgeEventType(
  kind: ForgeKind,
  { name, payload }: Pick<ForgeDelivery, 'name' | 'payload'>,
): string | null {
  // GitLab has one event for all comments.
  const isIssueNote = name === 'note' && valueAt(payload, 'object_attributes.noteable_type') === 'Issue';
  const eventType = `${sources[kind]}:${kind === 'gitlab_token' && isIssueNote ? 'issue_note' : name}`;
  return isForgeEvent(eventType) ? eventType : null;
}

/** The state of a repository that an event is about: a pull request, a branch or a tag; both null: its default branch. */
export interface EventTarget {
  readonly pullRequest: number | null;
  readonly ref: string | null;
}

/** The paths of the number of the pull request, and of the ref. The first value counts. */
const pullRequestPaths: Readonly<Record<string, readonly string[]>> = {
  'github:pull_request': ['pull_request.number'],
  'github:pull_request_review': ['pull_request.number'],
  'github:pull_request_review_comment': ['pull_request.number'],
  'github:check_run': ['check_run.pull_requests.0.number'],
  'gitlab:merge_request': ['object_attributes.iid'],
  'gitlab:note': ['merge_request.iid'],
  'gitlab:pipeline': ['merge_request.iid'],
  'gitea:pull_request': ['pull_request.number'],
  'gitea:pull_request_approved': ['pull_request.number'],
  'gitea:pull_request_rejected': ['pull_request.number'],
  'gitea:pull_request_comment': ['pull_request.number'],
};
const refPaths: Readonly<Record<string, string>> = {
  'github:check_run': 'check_run.check_suite.head_branch',
  'gitlab:pipeline': 'object_attributes.ref',
};

/** Returns the state of the repository that an event of a reduced payload is about. A deleted branch counts as none. */
export function targetOf(eventType: string, payload: EventJson): EventTarget {
  const word = eventType.split(':')[1];
  const isPullComment =
    word === 'issue_comment' &&
    (valueAt(payload, 'is_pull') === true || (valueAt(payload, 'issue.pull_request') ?? null) !== null);
  const paths = isPullComment ? ['issue.number'] : (pullRequestPaths[eventType] ?? []);
  const number = paths.map((path) => valueAt(payload, path)).find((each) => each != null);
  const isNumber = typeof number === 'number' && Number.isInteger(number) && number > 0 && number <= 2_147_483_647;
  if (isNumber) return { pullRequest: number, ref: null };
  const ref = word === 'push' ? pushedRef(payload) : valueAt(payload, refPaths[eventType] ?? '');
  return { pullRequest: null, ref: typeof ref === 'string' && isBranchName(ref) ? ref : null };
}

/** The page at the forge that an event is about, as a trigger of a run has it; null: none. */
export interface EventSubject {
  /** Number of the issue or the pull request; null: it is a push, or the event names none. */
  readonly number: number | null;
  readonly url: string | null;
}

/** The members that may have the page of an event: a comment or a review is shown in the page of its issue or pull request. */
const subjectMembers = ['pull_request', 'issue', 'merge_request'] as const;

const maxAddressLength = 2_000;

/** Returns the issue or the pull request that an event of a reduced payload is about. */
export function subjectOf(eventType: string, payload: EventJson): EventSubject {
  // In GitLab's other events, these are the attributes of a comment or a pipeline.
  const isOwn = eventType === 'gitlab:issue' || eventType === 'gitlab:merge_request';
  for (const name of isOwn ? ['object_attributes'] : subjectMembers) {
    const number = valueAt(payload, `${name}.number`) ?? valueAt(payload, `${name}.iid`);
    const url = valueAt(payload, `${name}.html_url`) ?? valueAt(payload, `${name}.url`);
    if (typeof number !== 'number' || typeof url !== 'string') continue;
    const isAddress = url.length <= maxAddressLength && /^https?:$/.test(parseUrl(url)?.protocol ?? '');
    return { number: Number.isSafeInteger(number) ? number : null, url: isAddress ? url : null };
  }
  return { number: null, url: null };
}

function pushedRef(payload: EventJson): string | null {
  const { ref, after } = payload;
  if (typeof ref !== 'string' || (typeof after === 'string' && /^0+$/.test(after))) return null;
  return /^refs\/(?:heads|tags)\/(.+)$/.exec(ref)?.[1] ?? null;
}
