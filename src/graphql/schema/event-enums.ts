import { builder } from '../builder.ts';

/** Values of an enum: the word that is stored for each, and its description. */
type Words = Readonly<Record<string, { readonly value: string; readonly description: string }>>;

/**
 * Returns a reader of stored words: it gives a word that is one of these, else null. Agents, and later versions of the
 * service, may have written another.
 */
export const readerOf =
  <T extends string>(words: readonly T[]) =>
  (stored: unknown): T | null =>
    words.find((word) => word === stored) ?? null;

/** An enum of words that entries of a log hold, and their {@link readerOf}. */
function wordEnum<const W extends Words>(name: string, description: string, values: W) {
  const words: W[keyof W]['value'][] = Object.values(values).map(({ value }) => value);
  return { type: builder.enumType(name, { description, values }), read: readerOf(words) };
}

/** PullRequestState of the contract. */
export const pullRequestState = wordEnum(
  'PullRequestState',
  'The state of a pull request, as the agent last reported it.',
  {
    OPEN: { value: 'open', description: 'The pull request can still be merged.' },
    CLOSED: { value: 'closed', description: 'The pull request was closed without a merge.' },
    MERGED: { value: 'merged', description: 'The pull request was merged.' },
  },
);

/** SessionRequest of the contract. */
export const sessionRequest = wordEnum(
  'SessionRequest',
  'A change of a session that was asked for and is not done yet.',
  {
    SUSPEND: { value: 'suspend', description: 'A user asked to suspend the session.' },
    RESUME: { value: 'resume', description: 'A user asked to resume the session.' },
  },
);

/** TurnPhase of the contract. */
export const turnPhase = wordEnum('TurnPhase', 'The part of a turn that an entry of the log marks.', {
  STARTED: { value: 'started', description: 'The agent got the prompt and began to work on it.' },
  STOPPED: { value: 'stopped', description: 'The turn ended; `stopReason` says why.' },
});

/** TurnStopReason of the contract. */
export const turnStopReason = wordEnum(
  'TurnStopReason',
  'The reason for which a turn ended: those of the Agent Client Protocol, and those of the service.',
  {
    END_TURN: { value: 'end_turn', description: 'The agent ended its turn by itself.' },
    MAX_TOKENS: { value: 'max_tokens', description: 'The model reached the most tokens that it may write.' },
    MAX_TURN_REQUESTS: {
      value: 'max_turn_requests',
      description: 'The agent reached the most requests to its model in one turn.',
    },
    REFUSAL: { value: 'refusal', description: 'The model refused to go on.' },
    CANCELLED: {
      value: 'cancelled',
      description: 'The service cancelled the turn, as for a message or a termination.',
    },
    MAX_TURN_TIME: { value: 'max_turn_time', description: 'The turn took longer than its agent profile allows.' },
    SUSPENDED: { value: 'suspended', description: 'A user suspended the session, which ended the turn.' },
    OTHER: { value: 'other', description: 'Another reason; `rawStopReason` has its word.' },
  },
);

/** QuestionOptionKind of the contract. */
export const questionOptionKind = wordEnum(
  'QuestionOptionKind',
  'The meaning of an answer to a request for a permission, as the agent declares it.',
  {
    ALLOW_ONCE: { value: 'allow_once', description: 'Allows the tool call that asks, and no other.' },
    ALLOW_ALWAYS: {
      value: 'allow_always',
      description: 'Allows this and later tool calls of the same kind, as the agent understands it.',
    },
    REJECT_ONCE: { value: 'reject_once', description: 'Refuses the tool call that asks, and no other.' },
    REJECT_ALWAYS: {
      value: 'reject_always',
      description: 'Refuses this and later tool calls of the same kind, as the agent understands it.',
    },
  },
);

const other = {
  value: 'other',
  description: 'A word of the agent that the Agent Client Protocol does not have.',
};

/** PlanEntryStatus of the contract. */
export const planEntryStatus = wordEnum('PlanEntryStatus', 'The state of a step of a plan, as the agent says it.', {
  PENDING: { value: 'pending', description: 'The step is still to be done.' },
  IN_PROGRESS: { value: 'in_progress', description: 'The agent works on the step.' },
  COMPLETED: { value: 'completed', description: 'The agent has done the step.' },
  OTHER: other,
});

/** PlanEntryPriority of the contract. */
export const planEntryPriority = wordEnum(
  'PlanEntryPriority',
  'The priority of a step of a plan, as the agent says it.',
  {
    HIGH: { value: 'high', description: 'The agent calls the step important.' },
    MEDIUM: { value: 'medium', description: 'The agent calls the step neither important nor unimportant.' },
    LOW: { value: 'low', description: 'The agent calls the step unimportant.' },
    OTHER: other,
  },
);

/** ToolKind of the contract. */
export const toolKind = wordEnum('ToolKind', 'The kind of a tool, in the words of the Agent Client Protocol.', {
  READ: { value: 'read', description: 'The tool reads files or data.' },
  EDIT: { value: 'edit', description: 'The tool changes files.' },
  DELETE: { value: 'delete', description: 'The tool deletes files or data.' },
  MOVE: { value: 'move', description: 'The tool moves or renames files.' },
  SEARCH: { value: 'search', description: 'The tool searches for something.' },
  EXECUTE: { value: 'execute', description: 'The tool runs a command or code.' },
  THINK: { value: 'think', description: 'The tool is for planning and reasoning.' },
  FETCH: { value: 'fetch', description: 'The tool gets data from outside, as from a website.' },
  SWITCH_MODE: { value: 'switch_mode', description: 'The tool changes the mode of the agent.' },
  OTHER: { value: 'other', description: 'Another kind of tool; `rawToolKind` has the word of the agent.' },
});

/** ToolCallStatus of the contract. */
export const toolCallStatus = wordEnum('ToolCallStatus', 'The state of a tool call at an entry of the log.', {
  PENDING: { value: 'pending', description: 'The call has not begun: it waits for its input or for a permission.' },
  IN_PROGRESS: { value: 'in_progress', description: 'The tool runs.' },
  COMPLETED: { value: 'completed', description: 'The call came to its end.' },
  FAILED: { value: 'failed', description: 'The call failed, or its turn ended before it did.' },
});

/** QuestionReason of the contract. */
export const questionReason = wordEnum('QuestionReason', 'The reason for which an agent asks the user.', {
  QUESTION: { value: 'question', description: 'The agent wants to know something.' },
  PERMISSION: { value: 'permission', description: 'A tool of the agent waits for a permission.' },
});

/** PermissionDecision of the contract. */
export const permissionDecision = wordEnum(
  'PermissionDecision',
  'The decision on a permission that an agent asked for.',
  {
    ALLOWED: { value: 'allowed', description: 'The tool may go on.' },
    DENIED: { value: 'denied', description: 'The tool may not go on.' },
    CANCELLED: { value: 'cancelled', description: 'The turn ended before there was a decision.' },
  },
);

/** UsageSource of the contract. */
export const usageSource = wordEnum('UsageSource', 'The source of a count of tokens and cost.', {
  GATEWAY: { value: 'gateway', description: 'The gateway counted one call of a model.' },
  RESPONSE: { value: 'response', description: 'The agent told it with the answer that ended its turn.' },
  QUOTA: { value: 'quota', description: 'The agent told it in the quota of the answer that ended its turn.' },
  UPDATE: { value: 'update', description: 'The agent told it while it worked.' },
});

/** AgentFailure of the contract. */
export const agentFailure = wordEnum('AgentFailure', 'The kind of failure that ended or interrupted a turn.', {
  AGENT_FAILED: { value: 'agent_failed', description: 'The process of the agent ended, or broke its protocol.' },
  AGENT_NOT_FOUND: {
    value: 'agent_not_found',
    description: 'The worker has no such agent profile, or not the program of it.',
  },
  AGENT_LOGIN_REFUSED: {
    value: 'agent_login_refused',
    description: 'The key or the login that its profile gives the agent was refused.',
  },
  AGENT_REQUEST_REFUSED: {
    value: 'agent_request_refused',
    description: 'The provider of the model refused the request, and would refuse it again.',
  },
  AGENT_SETTINGS_REFUSED: {
    value: 'agent_settings_refused',
    description: 'The agent refused the settings of its profile.',
  },
  INTERNAL: { value: 'internal', description: 'The service could not run the agent; the log of the worker says why.' },
});
