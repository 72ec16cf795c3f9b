import { sessionStatusDetails } from '../../../domain/sessions/status.ts';
import { readerOf } from './define-enum.ts';
import { SessionStatusDetailEnum } from './enums.ts';
import { agentFailure, pullRequestState, pushOutcome, repositoryState } from './event-enums.ts';
import { dataOf, draftIdField, eventType, intOf, numberOf, textOf } from './events.ts';
import { loadPrincipal, Principal } from './principals.ts';
import { PullRequestType } from './pull-requests.ts';

type FieldBuilder = Parameters<Parameters<typeof eventType>[2]>[0];

const readDetail = readerOf(sessionStatusDetails);

function timeOf(value: unknown): Date | null {
  const time = new Date(textOf(value) ?? '');
  return Number.isNaN(time.getTime()) ? null : time;
}

// Human-readable text from the service or the agent.
const body = (t: FieldBuilder) =>
  t.string({
    description: 'Text of the entry for people to read; empty if there is none.',
    resolve: (entry) => entry.body ?? '',
  });

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];

const repository = (t: FieldBuilder) =>
  t.string({
    description: 'Host and path of the repository, such as "github.com/acme/site".',
    resolve: (entry) => textOf(dataOf(entry).repository) ?? '',
  });

// Entries of pushes before there were outcomes.
const earlierOutcome = (refusal: unknown) => (textOf(refusal) === null ? 'ACCEPTED' : 'REFUSED');

const failureFields = (t: FieldBuilder) => ({
  failure: t.field({
    type: agentFailure.type,
    nullable: true,
    description: 'Type of the agent failure that the entry reports; null if the entry reports none.',
    resolve: (entry) => agentFailure.read(dataOf(entry).code),
  }),
  agentOutput: t.string({
    nullable: true,
    description:
      'End of what the agent wrote to its standard error before it failed, without secrets; null if there was nothing.',
    resolve: (entry) => textOf(dataOf(entry).stderr),
  }),
});

eventType('ThoughtEvent', 'Thought that the agent shared while working.', (t) => ({
  body: body(t),
  draftId: draftIdField(t),
}));

eventType(
  'NoticeEvent',
  'Notice from the service or the agent, for example that the tags of the session were changed.',
  (t) => ({
    body: body(t),
    isWarning: t.boolean({
      description:
        'True if files that the session should have are missing, for example because the saved state of its workspace is damaged.',
      resolve: (entry) => dataOf(entry).isWarning === true,
    }),
    isStop: t.boolean({
      description:
        'True if the session was stopped before the agent received the messages that wait. They are sent with the next message, or by `retryTurn`.',
      resolve: (entry) => dataOf(entry).isStop === true,
    }),
    ...failureFields(t),
    tags: t.stringList({
      nullable: true,
      description: 'Tags of the session after they were changed; null if the notice is about something else.',
      resolve: (entry) => {
        const { tags } = dataOf(entry);
        return Array.isArray(tags) && tags.every((tag) => typeof tag === 'string') ? tags : null;
      },
    }),
    sessionTitle: t.string({
      nullable: true,
      description: 'Title of the session after it was changed; null if the notice is about something else.',
      resolve: (entry) => textOf(dataOf(entry).sessionTitle),
    }),
    maxAcuLimit: t.int({
      nullable: true,
      description:
        'Maximum number of ACUs of the session after its own limit was changed; null if the limit was removed or the notice is about something else.',
      resolve: (entry) => intOf(dataOf(entry).maxAcuLimit),
    }),
  }),
);

/** RewindEvent; the file on event relations adds its `checkpoint` field. */
export const RewindEvent = eventType(
  'RewindEvent',
  'Return of the files and the agent of the session to a checkpoint. Entries of the log between the checkpoint and this one no longer hold. Of the earlier ones, those hold that held when the log ended at `toSeq`.',
  (t) => ({
    body: body(t),
    turn: t.int({
      description: 'Number of the last turn that still holds; 0 if the checkpoint is from before the first turn.',
      resolve: (entry) => intOf(dataOf(entry).turn) ?? 0,
    }),
    toSeq: t.int({
      description: 'Number of the last entry of the log when the checkpoint was saved.',
      resolve: (entry) => intOf(dataOf(entry).toSeq) ?? 0,
    }),
    savedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time when the checkpoint was saved; null if it is unknown.',
      resolve: (entry) => timeOf(dataOf(entry).savedAt),
    }),
    rewoundBy: t.field({
      type: Principal,
      nullable: true,
      description: 'Principal that reverted the session; null if the viewer may not see the principal.',
      resolve: (entry, _args, context) => loadPrincipal(context, entry),
    }),
  }),
);

eventType('ErrorEvent', 'Error that stopped the session.', (t) => ({ body: body(t), ...failureFields(t) }));

eventType('LimitEvent', 'Limit that was reached, which suspended the session.', (t) => ({
  body: body(t),
  limit: t.field({
    type: SessionStatusDetailEnum,
    nullable: true,
    description: 'Limit that was reached, as the status detail that the session got.',
    resolve: (entry) => readDetail(dataOf(entry).limit),
  }),
  acuLimit: t.float({
    nullable: true,
    description: 'Number of ACUs that the limit allows.',
    resolve: (entry) => numberOf(dataOf(entry).acuLimit),
  }),
  acusUsed: t.float({
    nullable: true,
    description: 'Number of ACUs that were used when the limit was reached.',
    resolve: (entry) => numberOf(dataOf(entry).acusUsed),
  }),
  tokenLimit: t.float({
    nullable: true,
    description: 'Number of tokens that the organization may use in a day; null for any other limit.',
    resolve: (entry) => numberOf(dataOf(entry).tokenLimit),
  }),
  tokensUsed: t.float({
    nullable: true,
    description: 'Number of tokens of the day that were used when the limit was reached; null for any other limit.',
    resolve: (entry) => numberOf(dataOf(entry).tokensUsed),
  }),
}));

eventType('RepositoryEvent', 'Step of the preparation of a repository for the session.', (t) => ({
  repository: repository(t),
  repositoryState: t.field({
    type: repositoryState.type,
    description: 'State of the repository at the time of the entry.',
    resolve: (entry) => repositoryState.read(dataOf(entry).state) ?? 'PENDING',
  }),
  percent: t.int({
    nullable: true,
    description: 'Progress of the current step in percent, from 0 to 100; null if git reports none.',
    resolve: (entry) => intOf(dataOf(entry).percent),
  }),
  body: t.string({
    description: 'Progress line of git, or the reason of a failure; empty if there is none.',
    resolve: (entry) => textOf(dataOf(entry).text) ?? entry.body ?? '',
  }),
}));

eventType(
  'PushEvent',
  'Push by the agent to a branch of a repository, which the service or the forge may have refused.',
  (t) => ({
    repository: repository(t),
    branch: t.string({
      description: 'Name of the branch, without "refs/heads/".',
      resolve: (entry) => textOf(dataOf(entry).branch) ?? '',
    }),
    oldCommit: t.string({
      nullable: true,
      description: 'Commit of the branch before the push; null if the push created the branch.',
      resolve: (entry) => textOf(dataOf(entry).old),
    }),
    newCommit: t.string({
      nullable: true,
      description: 'Commit of the branch after the push.',
      resolve: (entry) => textOf(dataOf(entry).new),
    }),
    pushOutcome: t.field({
      type: pushOutcome.type,
      description: 'Outcome of the push, as far as the service knows it.',
      resolve: (entry) => pushOutcome.read(dataOf(entry).outcome) ?? earlierOutcome(dataOf(entry).refusal),
    }),
    refusal: t.string({
      nullable: true,
      description:
        'Reason for which the service or the forge refused the push, or for which the outcome is unknown; null if the forge accepted it.',
      resolve: (entry) => textOf(dataOf(entry).refusal),
    }),
    isForced: t.boolean({
      nullable: true,
      description:
        'Whether the push removed commits from the branch (a forced push); null if the service does not know, or if the push was not accepted.',
      resolve: (entry) => dataOf(entry).isForced === true || (dataOf(entry).isForced === false ? false : null),
    }),
    subjects: t.stringList({
      description: 'First lines of the messages of the pushed commits, newest first. The list may be shortened.',
      resolve: (entry) => textsOf(dataOf(entry).subjects),
    }),
  }),
);

eventType(
  'PullRequestEvent',
  'Pull request that the session created or reviews, or a change of the state of a pull request.',
  (t) => ({
    pullRequest: t.field({
      type: PullRequestType,
      description:
        'Pull request with its state at the time of the entry. The details of a session’s pull requests are in `Session.pullRequests`.',
      resolve: (entry) => {
        const { url, state } = dataOf(entry);
        return { url: textOf(url) ?? entry.body ?? '', state: pullRequestState.read(state) ?? 'open', sessionId: null };
      },
    }),
    isReviewedPullRequest: t.boolean({
      description: 'Whether the session was started to review the pull request, and so did not create it.',
      resolve: (entry) => dataOf(entry).isReviewed === true,
    }),
  }),
);

eventType(
  'StructuredOutputEvent',
  'Structured output that the agent set. It replaces the earlier structured output.',
  (t) => ({
    // Not "output": one selection could not have both this and the output of a tool call.
    structuredOutput: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Structured output that the agent set, without secrets.',
      resolve: (entry) => dataOf(entry).output,
    }),
  }),
);

/** AttachmentEvent; the file on attachments adds its `attachment` field. */
export const AttachmentEvent = eventType('AttachmentEvent', 'File that the agent gave to the user.', (t) => ({
  name: t.string({
    description: 'Name of the file, even if the file has been deleted.',
    resolve: (entry) => textOf(dataOf(entry).name) ?? entry.body ?? '',
  }),
}));
