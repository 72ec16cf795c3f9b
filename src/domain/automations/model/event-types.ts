import type { EventField } from './event-field.ts';
import { giteaFields, githubFields, gitlabFields } from './forge-event-fields.ts';

/** An event type that a trigger may name. */
export interface EventType {
  /**
   * True if the service produces such events. Triggers on other event types are accepted and stored, but never fire.
   */
  readonly hasSource: boolean;
  readonly description: string;
  readonly fields: Readonly<Record<string, EventField>>;
  /** True if events have more fields than the known ones, and conditions may use all of them. */
  readonly isOpen?: true;
}

/** The event type whose trigger has a rule, and the one for external deliveries. */
export const recurringEvent = 'schedule:recurring';
/** See {@link recurringEvent}. */
export const webhookEvent = 'webhook:incoming';

/** The fields of events on a session: null if the session has no such value. */
const sessionFields = {
  'id': { type: 'string', isRequired: true, description: 'Id of the session, which begins with "devin-".' },
  'title': { type: 'string', isRequired: true, description: 'Title of the session.' },
  'url': { type: 'string', isRequired: true, description: 'URL of the session in the console.' },
  'tags': { type: 'list', isRequired: true, description: 'Tags of the session.' },
  'origin': {
    type: 'string',
    isRequired: true,
    description: 'Origin of the session, for example "api" or "automation".',
  },
  'status': { type: 'string', isRequired: true, description: 'Status that the session entered.' },
  'detail': {
    type: 'string',
    isRequired: false,
    description: 'Detail of the status, for example the reason for a suspension. Null if there is none.',
  },
  'automation_id': {
    type: 'string',
    isRequired: false,
    description: 'Id of the automation that started the session. Null if there is none.',
  },
  'playbook_id': {
    type: 'string',
    isRequired: false,
    description: 'Id of the playbook that the session follows. Null if there is none.',
  },
  'parent_session_id': {
    type: 'string',
    isRequired: false,
    description: 'Id of the session that started this session. Null if there is none.',
  },
  'acus_consumed': { type: 'number', isRequired: true, description: 'Number of ACUs that the session has consumed.' },
} as const satisfies Record<string, EventField>;

const unconnectedEvent: EventType = {
  hasSource: false,
  description:
    'An event of an external service that is not connected. Triggers for it can be saved but never start a run.',
  fields: {},
};

const ofSession = (description: string): EventType => ({ hasSource: true, description, fields: sessionFields });

const ofPullRequest = (description: string): EventType => ({
  hasSource: true,
  description,
  fields: {
    ...sessionFields,
    'pull_request_url': { type: 'string', isRequired: true, description: 'URL of the pull request.' },
  },
});

const sessionEvents = {
  'session:finished': ofSession('The agent of a session has finished its work and has no question.'),
  'session:blocked': ofSession('A session waits for a user: for an answer or for an approval.'),
  'session:error': ofSession('A session stopped because of an error.'),
  'session:suspended': ofSession('A session was suspended. The field "detail" gives the reason.'),
  'session:terminated': ofSession('A session ended permanently: a user terminated it or it expired.'),
  'session:pull_request_merged': ofPullRequest('A pull request of a session was merged.'),
  'session:pull_request_closed': ofPullRequest('A pull request of a session was closed without a merge.'),
} as const satisfies Record<string, EventType>;

/** An event of a session of this service. */
export type SessionEventName = keyof typeof sessionEvents;

/** True if an event is about a session of this service. */
export const isSessionEvent = (name: string): name is SessionEventName => Object.hasOwn(sessionEvents, name);

const internalEvents = {
  [recurringEvent]: {
    hasSource: true,
    description: 'A time of the recurrence rule of the trigger has been reached.',
    fields: {
      rrule: {
        type: 'recurrence',
        isRequired: true,
        description: 'Recurrence rule (RRULE) of RFC 5545. Times are in UTC unless the trigger has a time zone.',
      },
    },
  },
  [webhookEvent]: {
    hasSource: true,
    description: 'JSON was posted to the incoming webhook of the automation with its secret.',
    fields: {
      body: {
        type: 'json',
        isRequired: true,
        description: 'JSON body of the request. A path selects a value inside it, for example "body.build.state".',
      },
      headers: {
        type: 'json',
        isRequired: true,
        description:
          'Headers of the request, with names in lower case, for example "headers.x-github-event". Headers with credentials are left out.',
      },
    },
  },
  ...sessionEvents,
} as const satisfies Record<string, EventType>;

type Descriptions<Fields> = Readonly<Record<keyof Fields, string>>;

const githubEvents: Descriptions<typeof githubFields> = {
  'issue_comment': 'A comment on an issue, or in the conversation of a pull request, was created, edited or deleted.',
  'issues': 'An issue was opened, edited, labeled, assigned, closed or changed in another way.',
  'pull_request': 'A pull request was opened, updated, labeled, closed or changed in another way.',
  'pull_request_review': 'A review of a pull request was submitted, edited or dismissed.',
  'pull_request_review_comment': 'A comment on a line of a pull request was created, edited or deleted.',
  'check_run': 'A check was created, completed or requested again.',
  'push': 'Commits were pushed to a branch or a tag, or one of these was created or deleted.',
};
const gitlabEvents: Descriptions<typeof gitlabFields> = {
  'merge_request': 'A merge request was opened, updated, approved, merged, closed or changed in another way.',
  'note': 'A comment on a merge request, a commit or a snippet was created or edited.',
  'issue': 'An issue was opened, updated, closed or reopened.',
  'issue_note': 'A comment on an issue was created or edited.',
  'push': 'Commits were pushed to a branch, or a branch was created or deleted.',
  'pipeline': 'The status of a pipeline changed.',
};
const giteaEvents: Descriptions<typeof giteaFields> = {
  'issue_comment': 'A comment on an issue or a pull request was created, edited or deleted, at Gitea or Forgejo.',
  'issues': 'An issue was opened, edited, labeled, assigned, closed or changed in another way, at Gitea or Forgejo.',
  'pull_request': 'A pull request was opened, updated, labeled, closed or changed in another way, at Gitea or Forgejo.',
  'pull_request_approved': 'A review approved a pull request, at Gitea or Forgejo.',
  'pull_request_rejected': 'A review requested changes of a pull request, at Gitea or Forgejo.',
  'pull_request_comment': 'A review commented on a pull request, at Gitea or Forgejo.',
  'push': 'Commits were pushed to a branch or a tag, at Gitea or Forgejo.',
};

function ofForge<Fields extends Readonly<Record<string, EventType['fields']>>>(
  source: string,
  fields: Fields,
  descriptions: Descriptions<Fields>,
): [string, EventType][] {
  return Object.entries(fields).map(([word, each]) => [
    `${source}:${word}`,
    { hasSource: true, isOpen: true, description: descriptions[word] ?? '', fields: each },
  ]);
}

/** Events of repositories, which the webhooks of git connections bring. */
const forgeEvents: ReadonlyMap<string, EventType> = new Map([
  ...ofForge('github', githubFields, githubEvents),
  ...ofForge('gitlab', gitlabFields, gitlabEvents),
  ...ofForge('gitea', giteaFields, giteaEvents),
]);

/** True if an event is about a repository at a forge. */
export const isForgeEvent = (name: string): boolean => forgeEvents.has(name);

/** Events of other services. Their words are listed where they are known; otherwise any word is accepted. */
const externalEvents: Readonly<Record<string, readonly string[] | 'any'>> = {
  'slack': ['message', 'reaction_added'],
  'linear': ['create', 'label_added', 'assigned', 'status_changed', 'priority_changed', 'moved'],
  'jira': ['issue_created', 'label_added', 'status_changed', 'assigned'],
  'snapshot_build': ['completed'],
  'pylon': 'any',
  'incident_io': 'any',
};

/** Every event type with a known name. */
const eventTypes: ReadonlyMap<string, EventType> = new Map<string, EventType>([
  ...Object.entries(internalEvents),
  ...forgeEvents,
  ...Object.entries(externalEvents).flatMap(([source, events]) =>
    events === 'any' ? [] : events.map((event) => [`${source}:${event}`, unconnectedEvent] as const),
  ),
]);

const openSources: readonly string[] = Object.keys(externalEvents).filter((source) => externalEvents[source] === 'any');

/** An event type as the schemas list it: `*` replaces the word and matches any. */
export interface ListedEventType extends EventType {
  readonly name: string;
  readonly source: string;
  readonly word: string;
}

/** Every event type that a trigger may name. */
export const listedEventTypes: readonly ListedEventType[] = [
  ...eventTypes,
  ...openSources.map((source) => [`${source}:*`, unconnectedEvent] as const),
].map(([name, type]) => {
  const [source = '', word = ''] = name.split(':');
  return { ...type, name, source, word };
});

/** Returns the event type of a name such as "github:push"; null if no trigger can have it. */
export function findEventType(name: string): EventType | null {
  const found = eventTypes.get(name);
  if (found) return found;
  const [, source = ''] = /^([a-z_]+):[a-z][a-z0-9_]{0,63}$/.exec(name) ?? [];
  return Object.hasOwn(externalEvents, source) && externalEvents[source] === 'any' ? unconnectedEvent : null;
}

/** Returns the event type with the name that is most like an unknown one, such as `github:issues` for `github:issue`; null: none is. */
export function findSimilarEventType(name: string): string | null {
  const wanted = name.trim().toLowerCase();
  const distance = (known: string) => Math.abs(known.length - wanted.length);
  const isPart = /:[a-z_]{3}/.test(wanted);
  const isAlike = (known: string) =>
    (isPart && (known.startsWith(wanted) || wanted.startsWith(known))) || known.endsWith(`:${wanted}`);
  const [found = null] = [...eventTypes.keys()].filter(isAlike).sort((a, b) => distance(a) - distance(b));
  return found;
}
