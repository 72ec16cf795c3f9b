import { sessionStatusDetails } from '../../domain/sessions/status.ts';
import { SessionStatusDetailEnum } from './enums.ts';
import { agentFailure, pullRequestState, readerOf } from './event-enums.ts';
import { dataOf, eventType, intOf, numberOf, textOf } from './events.ts';
import { PullRequestType } from './pull-requests.ts';

type FieldBuilder = Parameters<Parameters<typeof eventType>[2]>[0];

const readDetail = readerOf(sessionStatusDetails);

// What the service or the agent says of it, for people to read.
const body = (t: FieldBuilder) =>
  t.string({
    description: 'The text for people to read; empty where there is none.',
    resolve: (entry) => entry.body ?? '',
  });

const failureFields = (t: FieldBuilder) => ({
  failure: t.field({
    type: agentFailure.type,
    nullable: true,
    description: 'The kind of failure that it tells of; null: no failure of an agent.',
    resolve: (entry) => agentFailure.read(dataOf(entry).code),
  }),
  agentOutput: t.string({
    nullable: true,
    description:
      'The end of what the agent wrote to its standard error before it failed, without secrets; null: nothing.',
    resolve: (entry) => textOf(dataOf(entry).stderr),
  }),
});

eventType('ThoughtEvent', 'A thought of the agent that it gave aloud.', (t) => ({ body: body(t) }));

eventType(
  'NoticeEvent',
  'A note of the service or of the agent, as that the tags of the session were changed.',
  (t) => ({
    body: body(t),
    ...failureFields(t),
    tags: t.stringList({
      nullable: true,
      description: 'The tags of the session after they were changed; null: the note is about something else.',
      resolve: (entry) => {
        const { tags } = dataOf(entry);
        return Array.isArray(tags) && tags.every((tag) => typeof tag === 'string') ? tags : null;
      },
    }),
    sessionTitle: t.string({
      nullable: true,
      description: 'The title of the session after it was changed; null: the note is about something else.',
      resolve: (entry) => textOf(dataOf(entry).sessionTitle),
    }),
    maxAcuLimit: t.int({
      nullable: true,
      description:
        'The most ACUs that the session may use, after its own limit was changed; null: the limit was taken away, or the note is about something else.',
      resolve: (entry) => intOf(dataOf(entry).maxAcuLimit),
    }),
  }),
);

eventType('ErrorEvent', 'An error that stopped the session.', (t) => ({ body: body(t), ...failureFields(t) }));

eventType('LimitEvent', 'A limit that was reached, for which the session was suspended.', (t) => ({
  body: body(t),
  limit: t.field({
    type: SessionStatusDetailEnum,
    nullable: true,
    description: 'The limit that was reached, as the detail of the status that the session came into.',
    resolve: (entry) => readDetail(dataOf(entry).limit),
  }),
  acuLimit: t.float({
    nullable: true,
    description: 'The ACUs that could be used.',
    resolve: (entry) => numberOf(dataOf(entry).acuLimit),
  }),
  acusUsed: t.float({
    nullable: true,
    description: 'The ACUs that were used when the limit was reached.',
    resolve: (entry) => numberOf(dataOf(entry).acusUsed),
  }),
}));

eventType('PullRequestEvent', 'A pull request that the session made, or another state of one.', (t) => ({
  pullRequest: t.field({
    type: PullRequestType,
    description: 'The pull request with its state at this entry.',
    resolve: (entry) => {
      const { url, state } = dataOf(entry);
      return { url: textOf(url) ?? entry.body ?? '', state: pullRequestState.read(state) ?? 'open' };
    },
  }),
}));

eventType('StructuredOutputEvent', 'A structured output that the agent set; it replaces the earlier one.', (t) => ({
  // Not "output": beside that of a tool call, one selection could not have both.
  structuredOutput: t.field({
    type: 'JSON',
    nullable: true,
    description: 'The structured output, without secrets.',
    resolve: (entry) => dataOf(entry).output,
  }),
}));

/** AttachmentEvent of the contract; its attachment is added where attachments are. */
export const AttachmentEvent = eventType('AttachmentEvent', 'A file that the agent gave to the user.', (t) => ({
  name: t.string({
    description: 'The name of the file, also of one that is gone.',
    resolve: (entry) => textOf(dataOf(entry).name) ?? entry.body ?? '',
  }),
}));
