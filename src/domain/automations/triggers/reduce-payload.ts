import type { EventJson } from './match-conditions.ts';

/** Maximum size of a reduced payload as JSON, in bytes. */
export const maxPayloadBytes = 65_536;

/** The members of payloads that are kept. All forges: a name means the same, or only one of them has it. */
const kept: ReadonlySet<string> = new Set([
  // All events.
  ...['action', 'repository', 'organization', 'sender', 'object_kind', 'event_type', 'project', 'user', 'changes'],
  ...['user_id', 'user_name', 'user_username'],
  // Issues, pull requests, comments and reviews.
  ...['number', 'issue', 'pull_request', 'comment', 'review', 'label', 'assignee', 'milestone', 'requested_reviewer'],
  ...['requested_team', 'is_pull', 'object_attributes', 'labels', 'assignees', 'reviewers', 'merge_request', 'commit'],
  // Pushes and checks.
  ...['ref', 'before', 'after', 'base_ref', 'created', 'deleted', 'forced', 'compare', 'commits', 'head_commit'],
  ...['pusher', 'total_commits', 'total_commits_count', 'checkout_sha', 'check_run', 'builds'],
]);

/** Members that say nothing to people: addresses of the API, images, and ids of another API. */
const isNoise = (name: string, value: object): boolean =>
  (name.endsWith('_url') && name !== 'html_url' && name !== 'web_url') ||
  (name === 'url' && 'html_url' in value) ||
  ['_links', 'node_id', 'gravatar_id', 'avatar', 'permissions', 'performed_via_github_app', 'reactions'].includes(name);

interface Bounds {
  /** Characters of a text. */
  readonly text: number;
  /** Items of a list. */
  readonly items: number;
  /** Members of an object. */
  readonly members: number;
  readonly depth: number;
}

/** Tried in this order, until the result is small enough. The last ones bound every payload. */
const attempts: readonly Bounds[] = [
  { text: 10_000, items: 100, members: 100, depth: 8 },
  { text: 4_000, items: 20, members: 60, depth: 6 },
  { text: 1_000, items: 10, members: 40, depth: 5 },
  { text: 200, items: 3, members: 20, depth: 3 },
  { text: 200, items: 0, members: 20, depth: 1 },
];

/**
 * Returns the parts of a forge's payload that conditions and prompts use, as JSON of at most {@link maxPayloadBytes} that
 * the database can represent. Texts, lists and depths are cut as far as that needs. Next to `labels`, `label_names` has the
 * names alone, because conditions compare no objects.
 */
export function reducePayload(payload: EventJson): EventJson {
  const chosen = Object.fromEntries(Object.entries(payload).filter(([name]) => kept.has(name)));
  for (const bounds of attempts) {
    const reduced = reduceObject(chosen, bounds, bounds.depth);
    if (Buffer.byteLength(JSON.stringify(reduced)) <= maxPayloadBytes) return reduced;
  }
  return {};
}

function reduce(value: unknown, bounds: Bounds, depth: number): unknown {
  if (typeof value === 'string') return storable(value.slice(0, bounds.text));
  if (value === null || typeof value !== 'object') return value;
  if (depth <= 0) return null;
  if (Array.isArray(value)) return value.slice(0, bounds.items).map((each) => reduce(each, bounds, depth - 1));
  return reduceObject(value, bounds, depth);
}

function reduceObject(value: object, bounds: Bounds, depth: number): EventJson {
  const members = Object.entries(value)
    .filter(([name]) => !isNoise(name, value) && name.length <= 100 && name !== '__proto__')
    .slice(0, bounds.members)
    .map(([name, each]) => [storable(name), reduce(each, bounds, depth - 1)] as const);
  const names = 'labels' in value ? labelNames(value.labels, bounds) : null;
  return Object.fromEntries(names === null ? members : [...members, ['label_names', names]]);
}

function labelNames(labels: unknown, { text, items }: Bounds): string[] | null {
  if (!Array.isArray(labels)) return null;
  return labels.slice(0, Math.max(items, 1)).flatMap((label) => {
    const { name, title } = { ...(label as { readonly name?: unknown; readonly title?: unknown } | null) };
    const found = name ?? title;
    return typeof found === 'string' ? [storable(found.slice(0, text))] : [];
  });
}

const storable = (text: string) => text.toWellFormed().replaceAll('\u0000', '');
