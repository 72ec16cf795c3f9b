import { plainLine, plainMarkdown } from '../../common/plain-text.ts';
import type { ForgeDelivery } from '../../forges/interface/events.ts';
import type { ForgeKind } from '../../forges/interface/forge.ts';
import { plainText } from '../../forges/support/text.ts';
import { valueAt } from '../automations/triggers/match-conditions.ts';

/** Maximum length of a text and of a description that are kept, in characters. */
const maxBody = 10_000;
const maxDescription = 4_000;

/** A new text at a forge that may address the service, and the issue or pull request that it belongs to. */
export interface MentionSource {
  /** Identifies the text within the repository. */
  readonly key: string;
  readonly body: string;
  readonly number: number;
  readonly isPullRequest: boolean;
  /** The thread of a comment on a line; null: the conversation. */
  readonly threadId: string | null;
  readonly title: string;
  /** Of the issue or the pull request; empty if the text is this description. */
  readonly description: string;
  readonly url: string | null;
}

/** Paths into the payload of an event. */
interface Shape {
  /** The action that makes the text new. */
  readonly action: string;
  /** The object with the text, and the name of the text in it. */
  readonly text: readonly [object: string, name: string];
  /** The issue or the pull request. */
  readonly subject: string;
  readonly kind: 'issue' | 'pull' | 'either';
  /** Begins the key of the text; null: the text is the description of its subject. */
  readonly key: 'comment' | 'line' | 'review' | null;
}

const shapes: Readonly<Record<string, Shape>> = {
  'issue_comment': { action: 'created', text: ['comment', 'body'], subject: 'issue', kind: 'either', key: 'comment' },
  'pull_request_review_comment': {
    ...{ action: 'created', text: ['comment', 'body'], subject: 'pull_request' },
    ...{ kind: 'pull', key: 'line' },
  },
  'pull_request_review': {
    ...{ action: 'submitted', text: ['review', 'body'], subject: 'pull_request' },
    ...{ kind: 'pull', key: 'review' },
  },
  'issues': { action: 'opened', text: ['issue', 'body'], subject: 'issue', kind: 'issue', key: null },
  'pull_request': {
    action: 'opened',
    text: ['pull_request', 'body'],
    subject: 'pull_request',
    kind: 'pull',
    key: null,
  },
};

/** Returns the new text of a delivery, also if it addresses nobody; null: the delivery has none. Edited texts are not new. */
export function readSource(kind: ForgeKind, delivery: ForgeDelivery): MentionSource | null {
  return kind === 'gitlab_token' ? readGitlab(delivery) : readGithub(delivery);
}

function readGithub({ name, action, payload }: ForgeDelivery): MentionSource | null {
  const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
  if (!shape || action !== shape.action) return null;
  const [object, text] = shape.text;
  const at = (path: string) => valueAt(payload, path);
  const isPullComment = at('is_pull') === true || (at('issue.pull_request') ?? null) !== null;
  const number = at(`${shape.subject}.number`);
  const id = at(`${object}.id`);
  // A reply belongs to the thread of the first comment.
  const first = at('comment.in_reply_to_id') ?? id;
  return toSource({
    key: shape.key === null ? keyOf('text:', number) : keyOf(`${shape.key}:`, id),
    body: at(`${object}.${text}`),
    number,
    isPullRequest: shape.kind === 'pull' || (shape.kind === 'either' && isPullComment),
    threadId: shape.key === 'line' ? idOf(first) : null,
    title: at(`${shape.subject}.title`),
    description: shape.key === null ? '' : at(`${shape.subject}.body`),
    url: at(`${object}.html_url`),
  });
}

function readGitlab({ name, action, payload }: ForgeDelivery): MentionSource | null {
  const at = (path: string) => valueAt(payload, path);
  const isNote = name === 'note';
  if (isNote ? action !== null && action !== 'create' : action !== 'open') return null;
  if (at('object_attributes.system') === true) return null;
  const noteable = at('object_attributes.noteable_type');
  const ofNote = noteable === 'MergeRequest' ? 'merge_request' : noteable === 'Issue' ? 'issue' : null;
  const subject = isNote ? ofNote : name;
  if (subject !== 'merge_request' && subject !== 'issue') return null;
  const path = isNote ? subject : 'object_attributes';
  const isPullRequest = subject === 'merge_request';
  const number = at(`${path}.iid`);
  return toSource({
    // Issues and merge requests have numbers of their own.
    key: isNote ? keyOf('note:', at('object_attributes.id')) : keyOf(isPullRequest ? 'text:!' : 'text:#', number),
    body: at(isNote ? 'object_attributes.note' : 'object_attributes.description'),
    number,
    isPullRequest,
    threadId: isNote && isPullRequest ? (at('object_attributes.discussion_id') ?? null) : null,
    title: at(`${path}.title`),
    description: isNote ? at(`${path}.description`) : '',
    url: at('object_attributes.url'),
  });
}

// The payload of an event that no other part reads may have any value anywhere.
const idOf = (value: unknown): string | null => {
  const isId = typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value));
  return isId && /^[\w.:-]{1,64}$/.test(String(value)) ? String(value) : null;
};

function keyOf(prefix: string, value: unknown): string | null {
  const id = idOf(value);
  return id === null ? null : prefix + id;
}

type Unchecked = { readonly [Name in keyof MentionSource]: unknown } & Pick<MentionSource, 'isPullRequest'> & {
    /** Null: the event does not identify the text. */
    readonly key: string | null;
  };

function toSource({ key, body, number, threadId, title, description, url, ...rest }: Unchecked): MentionSource | null {
  const isNumber = typeof number === 'number' && Number.isInteger(number) && number > 0 && number < 2 ** 31;
  if (typeof body !== 'string' || !isNumber || key === null) return null;
  return {
    ...rest,
    key,
    body: cleaned(body, maxBody),
    number,
    threadId: typeof threadId === 'string' && /^[\w:-]{1,100}$/.test(threadId) ? threadId : null,
    title: plainLine(cleaned(title, 300), 300),
    description: cleaned(description, maxDescription),
    url: typeof url === 'string' && /^https?:\/\/[^\s<>"\p{C}]{1,1000}$/u.test(url) ? url : null,
  };
}

const cleaned = (text: unknown, max: number) =>
  typeof text === 'string' ? plainMarkdown(plainText(text.toWellFormed(), max)) : '';
