import { builder } from '../builder.ts';

/** Enum values: the stored word and the description of each. */
type EnumValues = Readonly<Record<string, { readonly value: string; readonly description: string }>>;

/**
 * Returns a reader of stored words: an unknown word gives null. Agents, and later versions of the service, may have
 * written other words.
 */
export const readerOf =
  <T extends string>(values: readonly T[]) =>
  (stored: unknown): T | null =>
    values.find((value) => value === stored) ?? null;

/** An enum of words stored in log entries, with their {@link readerOf}. */
function storedEnum<const W extends EnumValues>(name: string, description: string, values: W) {
  const storedValues: W[keyof W]['value'][] = Object.values(values).map(({ value }) => value);
  return { type: builder.enumType(name, { description, values }), read: readerOf(storedValues) };
}

export const pullRequestState = storedEnum(
  'PullRequestState',
  'The state of a pull request, as the agent last reported it.',
  {
    OPEN: { value: 'open', description: 'The pull request can still be merged.' },
    CLOSED: { value: 'closed', description: 'The pull request was closed without a merge.' },
    MERGED: { value: 'merged', description: 'The pull request was merged.' },
  },
);

export const sessionRequest = storedEnum(
  'SessionRequest',
  'A change of a session that was requested and is not complete yet.',
  {
    SUSPEND: { value: 'suspend', description: 'A user asked to suspend the session.' },
    RESUME: { value: 'resume', description: 'A user asked to resume the session.' },
  },
);

export const turnPhase = storedEnum('TurnPhase', 'The phase of a turn that an entry of the log marks.', {
  STARTED: {
    value: 'started',
    description: 'The turn started: the agent received the prompt and began to work on it.',
  },
  STOPPED: { value: 'stopped', description: 'The turn ended; `stopReason` has the reason.' },
});

export const turnStopReason = storedEnum(
  'TurnStopReason',
  'The reason for which a turn ended. Some values are from the Agent Client Protocol, others from the service.',
  {
    END_TURN: { value: 'end_turn', description: 'The agent ended its turn by itself.' },
    MAX_TOKENS: {
      value: 'max_tokens',
      description: 'The model reached the maximum number of tokens that it may write.',
    },
    MAX_TURN_REQUESTS: {
      value: 'max_turn_requests',
      description: 'The agent reached the maximum number of requests to its model in a turn.',
    },
    REFUSAL: { value: 'refusal', description: 'The model refused to continue.' },
    CANCELLED: {
      value: 'cancelled',
      description: 'The service cancelled the turn, for example because of a message or a termination.',
    },
    MAX_TURN_TIME: { value: 'max_turn_time', description: 'The turn took longer than its agent profile allows.' },
    SUSPENDED: { value: 'suspended', description: 'A user suspended the session, which ended the turn.' },
    OTHER: { value: 'other', description: 'The turn ended for another reason, which is in `rawStopReason`.' },
  },
);

export const questionOptionKind = storedEnum(
  'QuestionOptionKind',
  'The meaning of an answer to a permission request, as the agent declares it.',
  {
    ALLOW_ONCE: { value: 'allow_once', description: 'Allows only the tool call that needs the permission.' },
    ALLOW_ALWAYS: {
      value: 'allow_always',
      description: 'Allows the tool call and later calls of its kind, as the agent defines the kind.',
    },
    REJECT_ONCE: { value: 'reject_once', description: 'Rejects only the tool call that needs the permission.' },
    REJECT_ALWAYS: {
      value: 'reject_always',
      description: 'Rejects the tool call and later calls of its kind, as the agent defines the kind.',
    },
  },
);

const other = {
  value: 'other',
  description: 'The agent reported a value that the Agent Client Protocol does not define.',
};

export const planEntryStatus = storedEnum(
  'PlanEntryStatus',
  'The status of a step of a plan, as the agent reports it.',
  {
    PENDING: { value: 'pending', description: 'The agent has not started the step.' },
    IN_PROGRESS: { value: 'in_progress', description: 'The agent is working on the step.' },
    COMPLETED: { value: 'completed', description: 'The agent has completed the step.' },
    OTHER: other,
  },
);

export const planEntryPriority = storedEnum(
  'PlanEntryPriority',
  'The priority of a step of a plan, as the agent reports it.',
  {
    HIGH: { value: 'high', description: 'The agent gave the step a high priority.' },
    MEDIUM: { value: 'medium', description: 'The agent gave the step a medium priority.' },
    LOW: { value: 'low', description: 'The agent gave the step a low priority.' },
    OTHER: other,
  },
);

export const toolKind = storedEnum('ToolKind', 'The kind of a tool, as the Agent Client Protocol defines it.', {
  READ: { value: 'read', description: 'The tool reads files or data.' },
  EDIT: { value: 'edit', description: 'The tool edits the content of files.' },
  DELETE: { value: 'delete', description: 'The tool deletes files or data.' },
  MOVE: { value: 'move', description: 'The tool moves or renames files.' },
  SEARCH: { value: 'search', description: 'The tool searches for something.' },
  EXECUTE: { value: 'execute', description: 'The tool runs a command or code.' },
  THINK: { value: 'think', description: 'The tool is for planning and reasoning.' },
  FETCH: { value: 'fetch', description: 'The tool fetches data from outside, for example from a website.' },
  SWITCH_MODE: { value: 'switch_mode', description: 'The tool changes the mode of the agent.' },
  OTHER: { value: 'other', description: 'The tool is of another kind, which is in `rawToolKind`.' },
});

export const toolCallStatus = storedEnum('ToolCallStatus', 'The status of a tool call at an entry of the log.', {
  PENDING: {
    value: 'pending',
    description: 'The tool call has not started: it waits for its input or for a permission.',
  },
  IN_PROGRESS: { value: 'in_progress', description: 'The tool call is in progress.' },
  COMPLETED: { value: 'completed', description: 'The tool call has completed.' },
  FAILED: { value: 'failed', description: 'The tool call failed, or its turn ended before the call did.' },
});

export const questionReason = storedEnum('QuestionReason', 'The reason for which an agent asks the user a question.', {
  QUESTION: { value: 'question', description: 'The agent needs information from the user.' },
  PERMISSION: { value: 'permission', description: 'A tool of the agent waits for a permission.' },
});

export const permissionDecision = storedEnum(
  'PermissionDecision',
  'The decision on a permission that an agent requested.',
  {
    ALLOWED: { value: 'allowed', description: 'The tool call was allowed to run.' },
    DENIED: { value: 'denied', description: 'The tool call was not allowed to run.' },
    CANCELLED: { value: 'cancelled', description: 'The turn ended before a decision was made.' },
  },
);

export const usageSource = storedEnum('UsageSource', 'The source of a report of tokens and cost.', {
  GATEWAY: { value: 'gateway', description: 'The gateway counted a single call of a model.' },
  RESPONSE: { value: 'response', description: 'The agent reported the usage in the response that ended its turn.' },
  QUOTA: {
    value: 'quota',
    description: 'The agent reported the usage as the quota in the response that ended its turn.',
  },
  UPDATE: { value: 'update', description: 'The agent reported the usage while it worked.' },
});

export const agentFailure = storedEnum('AgentFailure', 'The kind of failure that ended or interrupted a turn.', {
  AGENT_FAILED: { value: 'agent_failed', description: 'The process of the agent ended or violated the protocol.' },
  AGENT_NOT_FOUND: {
    value: 'agent_not_found',
    description: 'The worker does not have the agent profile, or lacks the program that the profile starts.',
  },
  AGENT_LOGIN_REFUSED: {
    value: 'agent_login_refused',
    description: 'The key or login that the agent profile provides was rejected.',
  },
  AGENT_REQUEST_REFUSED: {
    value: 'agent_request_refused',
    description: 'The provider of the model rejected the request, and a retry would be rejected too.',
  },
  AGENT_SETTINGS_REFUSED: {
    value: 'agent_settings_refused',
    description: 'The agent rejected the settings of its profile.',
  },
  INTERNAL: {
    value: 'internal',
    description: 'The service could not run the agent. The log of the worker has the reason.',
  },
});
