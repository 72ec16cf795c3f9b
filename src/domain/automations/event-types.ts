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
  readonly fields: Readonly<Record<string, EventField>>;
}

/** The event whose trigger holds a rule, and the one that comes from outside. */
export const recurringEvent = 'schedule:recurring';
/** See {@link recurringEvent}. */
export const webhookEvent = 'webhook:incoming';

/** The fields of events that are about a session. */
const sessionFields = {
  id: { type: 'string', isRequired: false, description: 'The session’s id.' },
  title: { type: 'string', isRequired: false, description: 'The session’s title.' },
  tags: { type: 'list', isRequired: false, description: 'The session’s tags.' },
  origin: { type: 'string', isRequired: false, description: 'How the session was started.' },
} as const satisfies Record<string, EventField>;

const elsewhere: EventType = { hasSource: false, fields: {} };

const known = {
  [recurringEvent]: {
    hasSource: true,
    fields: { rrule: { type: 'recurrence', isRequired: true, description: 'An RRULE of RFC 5545, in UTC.' } },
  },
  [webhookEvent]: {
    hasSource: true,
    fields: {
      body: { type: 'json', isRequired: false, description: 'The JSON that came; "body.a.b" is inside it.' },
    },
  },
  'session:finished': { hasSource: true, fields: sessionFields },
  'session:blocked': { hasSource: true, fields: sessionFields },
  'session:error': { hasSource: true, fields: sessionFields },
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
export const eventTypes: ReadonlyMap<string, EventType> = new Map<string, EventType>([
  ...Object.entries(known),
  ...Object.entries(words).flatMap(([source, events]) =>
    events === 'any' ? [] : events.map((event) => [`${source}:${event}`, elsewhere] as const),
  ),
]);

/** The event of a name such as "github:push"; null when no trigger can have it. */
export function findEventType(name: string): EventType | null {
  const found = eventTypes.get(name);
  if (found) return found;
  const [, source = ''] = /^([a-z_]+):[a-z][a-z0-9_]{0,63}$/.exec(name) ?? [];
  return Object.hasOwn(words, source) && words[source] === 'any' ? elsewhere : null;
}
