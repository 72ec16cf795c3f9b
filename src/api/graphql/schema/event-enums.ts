import { storedEnum } from './define-enum.ts';

export const pullRequestState = storedEnum('PullRequestState', 'The state of a pull request. A draft is open.', {
  open: 'The pull request can still be merged.',
  closed: 'The pull request was closed without a merge.',
  merged: 'The pull request was merged.',
});

export const sessionRequest = storedEnum(
  'SessionRequest',
  'A change of a session that was requested and is not complete yet.',
  {
    suspend: 'A user asked to suspend the session.',
    resume: 'A user asked to resume the session.',
  },
);

export const messageMode = storedEnum('MessageMode', 'The effect of a message that arrives while the agent works.', {
  queue: 'The message waits for the end of the turn, unless it answers an open question.',
  interrupt:
    'The message cancels the turn and its open question, and starts the next turn together with the messages that already wait, which come before it. An agent that does not end its turn is killed and started again.',
});

export const messageChange = storedEnum('MessageChange', 'The kind of a change to a message that was not delivered.', {
  edited: 'The text of the message was replaced.',
  withdrawn: 'The message was withdrawn: the agent does not receive it.',
});

export const turnPhase = storedEnum('TurnPhase', 'The phase of a turn that an entry of the log marks.', {
  started: 'The turn started: the agent received the prompt and began to work on it.',
  stopped: 'The turn ended; `stopReason` has the reason.',
});

export const turnStopReason = storedEnum(
  'TurnStopReason',
  'The reason for which a turn ended. Some values are from the Agent Client Protocol, others from the service.',
  {
    'end_turn': 'The agent ended its turn by itself.',
    'max_tokens': 'The model reached the maximum number of tokens that it may write.',
    'max_turn_requests': 'The agent reached the maximum number of requests to its model in a turn.',
    refusal: 'The model refused to continue.',
    cancelled: 'The turn was cancelled: a user stopped it, or a message arrived that cancels the turn.',
    'max_turn_time': 'The turn took longer than its agent profile allows.',
    suspended: 'A user suspended the session, which ended the turn.',
    other: 'The turn ended for another reason, which is in `rawStopReason`.',
  },
);

export const questionOptionKind = storedEnum(
  'QuestionOptionKind',
  'The meaning of an answer to a permission request, as the agent declares it.',
  {
    'allow_once': 'Allows only the tool call that needs the permission.',
    'allow_always': 'Allows the tool call and later calls of its kind, as the agent defines the kind.',
    'reject_once': 'Rejects only the tool call that needs the permission.',
    'reject_always': 'Rejects the tool call and later calls of its kind, as the agent defines the kind.',
  },
);

const other = 'The agent reported a value that the Agent Client Protocol does not define.';

export const planEntryStatus = storedEnum(
  'PlanEntryStatus',
  'The status of a step of a plan, as the agent reports it.',
  {
    pending: 'The agent has not started the step.',
    'in_progress': 'The agent is working on the step.',
    completed: 'The agent has completed the step.',
    other,
  },
);

export const planEntryPriority = storedEnum(
  'PlanEntryPriority',
  'The priority of a step of a plan, as the agent reports it.',
  {
    high: 'The agent gave the step a high priority.',
    medium: 'The agent gave the step a medium priority.',
    low: 'The agent gave the step a low priority.',
    other,
  },
);

export const toolKind = storedEnum('ToolKind', 'The kind of a tool, as the Agent Client Protocol defines it.', {
  read: 'The tool reads files or data.',
  edit: 'The tool edits the content of files.',
  delete: 'The tool deletes files or data.',
  move: 'The tool moves or renames files.',
  search: 'The tool searches for something.',
  execute: 'The tool runs a command or code.',
  think: 'The tool is for planning and reasoning.',
  fetch: 'The tool fetches data from outside, for example from a website.',
  'switch_mode': 'The tool changes the mode of the agent.',
  other: 'The tool is of another kind, which is in `rawToolKind`.',
});

export const toolCallStatus = storedEnum('ToolCallStatus', 'The status of a tool call at an entry of the log.', {
  pending: 'The tool call has not started: it waits for its input or for a permission.',
  'in_progress': 'The tool call is in progress.',
  completed: 'The tool call has completed.',
  failed: 'The tool call failed, or its turn ended before the call did.',
});

export const questionReason = storedEnum('QuestionReason', 'The reason for which an agent asks the user a question.', {
  question: 'The agent needs information from the user.',
  permission: 'A tool of the agent waits for a permission.',
});

export const permissionDecision = storedEnum(
  'PermissionDecision',
  'The decision on a permission that an agent requested.',
  {
    allowed: 'The tool call was allowed to run.',
    denied: 'The tool call was not allowed to run.',
    cancelled: 'The turn ended before a decision was made.',
  },
);

export const usageSource = storedEnum('UsageSource', 'The source of a report of tokens and cost.', {
  gateway: 'The gateway counted a single call of a model.',
  response: 'The agent reported the usage in the response that ended its turn.',
  quota: 'The agent reported the usage as the quota in the response that ended its turn.',
  update: 'The agent reported the usage while it worked.',
});

export const repositoryState = storedEnum(
  'SessionRepositoryState',
  'The state of a repository that a session works on.',
  {
    PENDING: 'The service has not cloned the repository yet.',
    CLONING: 'The service fetches and clones the repository.',
    READY: 'The clone is in the workspace of the session.',
    FAILED: 'The repository could not be cloned. The next message to the session tries again.',
  },
);

export const pushOutcome = storedEnum('PushOutcome', 'The outcome of a push to a repository.', {
  ACCEPTED: 'The forge accepted the push.',
  REFUSED: 'The service or the forge refused the push.',
  UNKNOWN: 'The answer of the forge was lost, and the present state of the branch does not show the outcome.',
});

export const agentFailure = storedEnum('AgentFailure', 'The kind of failure that ended or interrupted a turn.', {
  'agent_failed': 'The process of the agent ended or violated the protocol.',
  'agent_not_found': 'The worker does not have the agent profile, or lacks the program that the profile starts.',
  'agent_login_refused': 'The key or login that the agent profile provides was rejected.',
  'agent_request_refused': 'The provider of the model rejected the request, and a retry would be rejected too.',
  'agent_settings_refused': 'The agent rejected the settings of its profile.',
  'provider_limit': 'The provider of the model has reached a limit.',
  'provider_key_missing': 'The session has no key of a model provider that its agent can use.',
  'provider_key_refused': 'The provider of the model rejected the key.',
  'provider_account_empty': 'The account of the key has no credit left.',
  'provider_not_reachable': 'The base URL of the key leads to no model provider, or to no server.',
  'provider_price_unknown': 'The key has a budget, and the price of the model is not known.',
  'repository_unavailable': 'A repository of the session could not be cloned.',
  internal: 'The service could not run the agent. The log of the worker has the reason.',
});
