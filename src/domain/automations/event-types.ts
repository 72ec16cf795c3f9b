/** What one field of an event is, and how it may be compared. */
export interface EventField {
  readonly type: 'string' | 'number' | 'boolean' | 'list' | 'json' | 'recurrence';
  readonly isRequired: boolean;
  readonly description: string;
}

/** An event that a trigger may name. */
export interface EventType {
  /** Whether anything here makes such events; others are taken and kept, and nothing ever comes of them. */
  readonly hasSource: boolean;
  readonly description: string;
  readonly fields: Readonly<Record<string, EventField>>;
}

/** The event whose trigger holds a rule, and the one that comes from outside. */
export const recurringEvent = 'schedule:recurring';
/** See {@link recurringEvent}. */
export const webhookEvent = 'webhook:incoming';

/** The fields of events that are about a session: null where there is nothing of it. */
const sessionFields = {
  'id': { type: 'string', isRequired: true, description: 'The session’s id, as "devin-…".' },
  'title': { type: 'string', isRequired: true, description: 'The session’s title.' },
  'url': { type: 'string', isRequired: true, description: 'The session’s page.' },
  'tags': { type: 'list', isRequired: true, description: 'The session’s tags.' },
  'origin': { type: 'string', isRequired: true, description: 'How the session was started.' },
  'status': { type: 'string', isRequired: true, description: 'The status that it came into.' },
  'detail': { type: 'string', isRequired: false, description: 'More of that status.' },
  'automation_id': { type: 'string', isRequired: false, description: 'The automation that started the session.' },
  'playbook_id': { type: 'string', isRequired: false, description: 'The playbook that the session follows.' },
  'parent_session_id': { type: 'string', isRequired: false, description: 'The session that started it.' },
  'acus_consumed': { type: 'number', isRequired: true, description: 'The ACUs that the session has used.' },
} as const satisfies Record<string, EventField>;

const elsewhere: EventType = {
  hasSource: false,
  description: 'Of a service that this one is not connected to: taken and kept, and nothing ever comes of it.',
  fields: {},
};

const ofSession = (description: string): EventType => ({ hasSource: true, description, fields: sessionFields });

const sessionEvents = {
  'session:finished': ofSession('A session’s agent has done what it was asked, and has no question.'),
  'session:blocked': ofSession('A session waits for a user: for an answer, or for leave to do something.'),
  'session:error': ofSession('A session could not go on.'),
  'session:suspended': ofSession('A session was put to sleep: detail says why.'),
  'session:terminated': ofSession('A session was ended for good, by a user or because it was too old.'),
} as const satisfies Record<string, EventType>;

/** An event of a session of this service. */
export type SessionEventName = keyof typeof sessionEvents;

/** Whether an event is of a session of this service. */
export const isSessionEvent = (name: string): name is SessionEventName => Object.hasOwn(sessionEvents, name);

const known = {
  [recurringEvent]: {
    hasSource: true,
    description: 'A time of its rule has come.',
    fields: { rrule: { type: 'recurrence', isRequired: true, description: 'An RRULE of RFC 5545, in UTC.' } },
  },
  [webhookEvent]: {
    hasSource: true,
    description: 'Somebody posted JSON to the automation’s address, with its secret.',
    fields: {
      body: { type: 'json', isRequired: true, description: 'The JSON that came; "body.a.b" is inside it.' },
      headers: {
        type: 'json',
        isRequired: true,
        description: 'The headers that came, in small letters: "headers.x-github-event". Not those with credentials.',
      },
    },
  },
  ...sessionEvents,
} as const satisfies Record<string, EventType>;

/** Events of other services (wire-facts 4): the words of those that are not listed there are taken as they come. */
const words: Readonly<Record<string, readonly string[] | 'any'>> = {
  'github': [
    'issue_comment',
    'issues',
    'pull_request',
    'pull_request_review',
    'pull_request_review_comment',
    'check_run',
    'push',
  ],
  'gitlab': ['merge_request', 'note', 'issue', 'issue_note', 'push', 'pipeline'],
  'slack': ['message', 'reaction_added'],
  'linear': ['create', 'label_added', 'assigned', 'status_changed', 'priority_changed', 'moved'],
  'jira': ['issue_created', 'label_added', 'status_changed', 'assigned'],
  'snapshot_build': ['completed'],
  'pylon': 'any',
  'incident_io': 'any',
};

/** Every event that is known by its name. */
const eventTypes: ReadonlyMap<string, EventType> = new Map<string, EventType>([
  ...Object.entries(known),
  ...Object.entries(words).flatMap(([source, events]) =>
    events === 'any' ? [] : events.map((event) => [`${source}:${event}`, elsewhere] as const),
  ),
]);

const openSources: readonly string[] = Object.keys(words).filter((source) => words[source] === 'any');

/** An event as the schemas list it: `*` in place of the word stands for any. */
export interface ListedEventType extends EventType {
  readonly name: string;
  readonly source: string;
  readonly word: string;
}

/** Every event that a trigger may name. */
export const listedEventTypes: readonly ListedEventType[] = [
  ...eventTypes,
  ...openSources.map((source) => [`${source}:*`, elsewhere] as const),
].map(([name, type]) => {
  const [source = '', word = ''] = name.split(':');
  return { ...type, name, source, word };
});

/** The event of a name such as "github:push"; null when no trigger can have it. */
export function findEventType(name: string): EventType | null {
  const found = eventTypes.get(name);
  if (found) return found;
  const [, source = ''] = /^([a-z_]+):[a-z][a-z0-9_]{0,63}$/.exec(name) ?? [];
  return Object.hasOwn(words, source) && words[source] === 'any' ? elsewhere : null;
}
