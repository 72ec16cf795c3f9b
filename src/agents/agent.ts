import type { StartSpan } from '../common/trace-span.ts';
import type { AgentExchange } from './agent-exchange.ts';
import type { AskCredential, ProviderCredential } from './credential.ts';
import type { AgentOffer } from './options/agent-option.ts';
import type { ProviderFailure, ProviderSettings } from './provider.ts';
import type { Sandbox, SandboxDriver } from './sandbox/driver.ts';
import type { AgentPaths, SandboxSettings } from './sandbox/settings.ts';
import type { Workspaces } from './sandbox/workspaces.ts';

/** The settings of one kind of agent. Read from AGENTS_CONFIG; `demo` is built in. */
export interface AgentProfile {
  readonly id: string;
  readonly name: string;
  /** Program and arguments; a program without a slash is searched in PATH. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The ACP authentication method, if the agent needs one. */
  readonly authMethod: string | null;
  /** The ACP session mode to set. */
  readonly mode: string | null;
  /** The response to an agent's permission request; `ask` passes it on to the user. */
  readonly permission: 'auto' | 'ask' | 'deny';
  /** The methods to resume an earlier session, best first; methods after `new` are never tried. */
  readonly resumeOrder: readonly ('resume' | 'load' | 'new')[];
  /** The session status after a turn that ends without a question. */
  readonly onEndTurn: 'finished' | 'blocked';
  /** The time for which an idle process is kept for the next message. */
  readonly warmTtlMs: number;
  /** The timeout of the first request, `initialize`. */
  readonly startTimeoutMs: number;
  /** The delay before each retry after a crash. The number of delays is the number of retries. */
  readonly retryDelaysMs: readonly number[];
  /**
   * An agent counts as hanging after this time without a sign of life in a turn, or after three times as long while a
   * tool runs.
   */
  readonly inactivityMs: number;
  /**
   * The duration of each stop step: after a cancel, after the end of stdin, and after SIGTERM; and the time after which
   * an agent that does not end its turn is killed when a user stops it ({@link AgentProcess.stopTurn}).
   */
  readonly stopGraces: {
    readonly cancelMs: number;
    readonly stdinMs: number;
    readonly termMs: number;
    readonly interruptMs: number;
  };
  /** True if the agent uses the MCP servers of `session/new`; otherwise it reports by its text alone. */
  readonly mcp: boolean;
  /** The name of the tool for questions to the user: some agents reserve one name for a tool of their own. */
  readonly askTool: 'ask_user' | 'ask_the_user';
  /**
   * The part of Git's configuration with the author of commits: the system configuration, or the variables
   * `GIT_CONFIG_COUNT` and following, for an agent whose commands have another system configuration.
   */
  readonly gitIdentity: 'system' | 'variables';
  /** The reader of the `AGENTS.md` where the agent starts: the agent itself, or the service, which gives it to the agent. */
  readonly instructions: 'agent' | 'service';
  /**
   * The effect of a message that arrives while the agent works: it waits for the end of the turn, or cancels the turn.
   */
  readonly steer: 'wait' | 'cancel';
  /** ACP session configuration options by id (`model`, …). An option that the agent does not offer is an error. */
  readonly config: Readonly<Record<string, string | boolean>>;
  /** The ids of the options that users cannot choose for their sessions; null: see `isLocked` of options/locks.ts. */
  readonly lockedOptions: readonly string[] | null;
  /** Null: the default of this process. */
  readonly sandbox: SandboxSettings | null;
  readonly provider: ProviderSettings | null;
  /** The memory planned for one process, in MiB, when a worker decides how many run at once. */
  readonly memoryMb: number;
  /** The maximum duration of a turn; null: no maximum, as long as it shows signs of life. */
  readonly maxTurnMs: number | null;
}

/** The parts of a prompt. A link names a file that the agent may open, by its URL as the agent sees it. */
export type PromptBlock =
  | {
      readonly type: 'text';
      readonly text: string;
      /** True for text from the service, not from the user. */
      readonly isPreface?: boolean;
    }
  | { readonly type: 'link'; readonly uri: string; readonly name: string; readonly mimeType: string | null };

/** An MCP server over stdio for the agent to start. */
export interface McpServer {
  readonly name: string;
  /** The program's path as the agent sees it. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The end of a turn: ACP's stop reason (`end_turn`, `max_tokens`, `max_turn_requests`, `refusal`, `cancelled`), or
 * `max_turn_time` if it was cancelled because it exceeded the profile's maximum.
 */
export interface TurnEnd {
  readonly stopReason: string;
  /** True if the agent was killed by {@link AgentProcess.stopTurn}: it takes no further prompt. */
  readonly isKilled?: true;
}

/** ACP's kinds of permission options. */
export const permissionOptionKinds = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;
/** See {@link permissionOptionKinds}. */
export type PermissionOptionKind = (typeof permissionOptionKinds)[number];

/** An option that the agent offers with a question. */
export interface QuestionOption {
  /** Its number among the options, from "1". Agents' own ids may be of any length and need not be unique. */
  readonly id: string;
  /** One line. */
  readonly name: string;
  /** Null for the options of a question that is not about a permission. */
  readonly kind: PermissionOptionKind | null;
}

/** The user's answer to a question: one of its options, or a text. */
export interface QuestionReply {
  readonly text: string;
  /** Null: `text` is the answer. */
  readonly optionId: string | null;
}

/** A tool's change to a file. */
export interface ToolDiff {
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string;
}

/**
 * An agent's report; reports come in order, each once. Messages and thoughts are complete blocks, not chunks. If the
 * agent pauses inside one, its text so far is reported, and the rest later with `isMore`. `draftId`: see {@link DraftGrowth}.
 */
export type AgentUpdate =
  | { readonly type: 'message'; readonly text: string; readonly isMore?: true; readonly draftId?: string }
  | { readonly type: 'thought'; readonly text: string; readonly isMore?: true; readonly draftId?: string }
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'title'; readonly title: string }
  | {
      readonly type: 'toolCall';
      readonly toolCallId: string;
      readonly title: string;
      readonly toolKind: string;
      readonly status: 'pending' | 'in_progress' | 'completed' | 'failed';
      readonly locations: readonly { readonly path: string; readonly line: number | null }[];
      /** The last 16,000 characters of the output. Each side of a diff has at most as many; a truncated one says so. */
      readonly output: string | null;
      /** Only if the output has more characters. */
      readonly long?: LongOutput;
      readonly diffs: readonly ToolDiff[];
      readonly draftId?: string;
      /** True if it failed after a user had stopped the turn. */
      readonly isCancelled?: true;
    }
  | {
      readonly type: 'plan';
      readonly entries: readonly { readonly content: string; readonly status: string; readonly priority: string }[];
    }
  | {
      readonly type: 'usage';
      /**
       * The origin of the figures: the gateway (one call), the response to a prompt or the quota in it (the turn), or an update
       * during the turn. `costUsd` is the total of the agent's session; that of the gateway is the cost of the call.
       */
      readonly source: 'gateway' | 'response' | 'quota' | 'update';
      /** The number of model calls in these figures. */
      readonly llmCalls: number | null;
      readonly inputTokens: number | null;
      readonly outputTokens: number | null;
      /** The part of the input tokens that came from the provider's cache. */
      readonly cachedTokens: number | null;
      readonly totalTokens: number | null;
      readonly costUsd: number | null;
      /** The stored key of the call, with which the gateway made it. Missing: another source, or another key. */
      readonly providerKeyId?: string;
      readonly contextUsed: number | null;
      readonly contextSize: number | null;
    }
  | {
      readonly type: 'permission';
      readonly toolCallId: string;
      readonly title: string;
      readonly decision: 'allowed' | 'denied' | 'cancelled';
      /** The question put to the user; null: the profile decided. */
      readonly questionId: string | null;
      /** The chosen option among those that the question offers; null: none, or the profile decided. */
      readonly option: QuestionOption | null;
    }
  | {
      readonly type: 'question';
      /** For {@link AgentProcess.answer}. */
      readonly questionId: string;
      readonly text: string;
      readonly options: readonly QuestionOption[];
      readonly reason: 'question' | 'permission';
      /** Null: the agent named none. */
      readonly toolCallId: string | null;
    };

/** The output of a tool call that has more characters than its log entry may have. Unmasked. */
export interface LongOutput {
  /** The same object in all updates of a call with the same output. */
  readonly key: object;
  /** True if the call has ended, or its turn. */
  readonly isComplete: boolean;
  /** All of a complete output, or its first characters; empty if they are not retained. */
  readonly start: string;
  /** The last characters: 16,000, and some before them. */
  readonly end: string;
  /** The length of all of it. */
  readonly characters: number;
  /** The size of all of a complete output in UTF-8. */
  readonly bytes: number;
}

/** The text of a block, or the output of a running tool, that has grown. Its {@link AgentUpdate} has the same `draftId`. */
export interface DraftGrowth {
  readonly draftId: string;
  readonly kind: 'message' | 'thought' | 'tool_output';
  /** Null for a block. */
  readonly toolCallId: string | null;
  /** All of it so far, unmasked. The output of a tool may also change in another way than to grow. */
  readonly text: string;
}

/** Receives text before it is complete. */
export interface DraftSink {
  newId(): string;
  /** Called for each chunk. Must not throw, and must take no time. */
  grow(growth: DraftGrowth): void;
}

/** The settings of a process. */
export interface AgentLaunch {
  readonly profile: AgentProfile;
  /** The agent runs in it. The caller closes it after {@link AgentProcess.stop}. */
  readonly sandbox: Sandbox;
  /** Secrets for the child's environment only. */
  readonly env: Readonly<Record<string, string>>;
  /** The path in the sandbox where its session works. If missing: the workspace. */
  readonly cwd?: string;
  /** Variables of the service for tools in the sandbox, such as git. They override all others but the gateway's. */
  readonly serviceEnv?: Readonly<Record<string, string>>;
  /**
   * Variables that hold the paths of files of {@link Sandbox.writeRunFile}, by file name; the files may be written
   * later. The profile's `env` and {@link AgentLaunch.env} take precedence.
   */
  readonly runtimeFiles?: Readonly<Record<string, string>>;
  /** Called after each request to the agent; used by the agent check. Must not throw. */
  onExchange?(exchange: AgentExchange): void;
  /** Called when a session was opened and after each change of its options. Must not throw, and must take no time. */
  onOffer?(offer: AgentOffer): void;
  /** Called with the tools that each model call offers, if the gateway sees it. Must not throw. */
  onTools?(tools: readonly { readonly name: string; readonly description: string }[]): void;
  /** Awaited before the next update is delivered; must not throw. */
  onUpdate(update: AgentUpdate): Promise<void>;
  /** The credential for each call of the gateway. If missing: the key of the profile. */
  readonly credential?: AskCredential;
  /** Called after each model call with the failure that further calls would have, or null if it succeeded. Must not throw. */
  onOutcome?(credential: ProviderCredential, failure: ProviderFailure | null): void;
  /** Starts the span of a model call. If missing: none is recorded. */
  readonly startSpan?: StartSpan | undefined;
  /**
   * Creates a function that masks these values in a text, in all encodings that programs use; with `isPiece`, also a
   * part of a value at the text's ends. If missing: only the exact values.
   */
  maskOf?(values: readonly string[]): (text: string, isPiece?: boolean) => string;
  /**
   * When it aborts, the agent cannot call its model any more: the gateway ends all calls, however long the agent takes
   * to stop.
   */
  readonly revoked?: AbortSignal;
  /**
   * The length of a text that may be reported while the rest is still to come: a secret must not be split. If missing:
   * all of it. `draftId`: the draft of the text.
   */
  safeLength?(text: string, draftId: string | null): number;
  /** If missing: there are no drafts. */
  readonly drafts?: DraftSink;
}

/** A running agent with at most one session and one prompt in progress. */
export interface AgentProcess {
  readonly paths: AgentPaths;
  /** Resolves with a description of its end, also between turns; never rejects. */
  readonly exited: Promise<string>;
  /** Resumes the earlier session as the profile says, or opens a new one. Rejects with {@link AgentCrash}. */
  open(
    previousSessionId: string | null,
    mcpServers?: readonly McpServer[],
  ): Promise<{ agentSessionId: string; how: 'new' | 'resume' | 'load' }>;
  /** The agent's name and version, on one line; null if it gives neither. */
  readonly version: string | null;
  /** The options that the agent offers for the open session. */
  offer(): AgentOffer;
  /**
   * Sets an option between two turns. Rejects with {@link AgentCrash} if the agent refuses it, does not answer in time
   * or ends; an option or a value that it does not offer is not sent.
   */
  setOption(id: string, value: string): Promise<void>;
  /** Runs one turn; resolves when onUpdate has handled all its updates. Rejects with {@link AgentCrash}. */
  prompt(blocks: readonly PromptBlock[]): Promise<TurnEnd>;
  /** Returns true if a question is open and nothing shows that the agent does other work meanwhile. */
  isWaiting(): boolean;
  /** Answers an open question; false if it is not open or has no such option. */
  answer(questionId: string, reply: QuestionReply): boolean;
  /** Cancels the turn; resolves when it has ended, or after the profile's timeout. */
  cancel(): Promise<void>;
  /**
   * Ends the turn for good: cancels it, and after the profile's grace kills the agent with all processes that it
   * started. Its text so far is reported, later text is not. Resolves when the turn has ended.
   */
  stopTurn(): Promise<void>;
  /**
   * Cancels a turn that stays open and is resumed later. While the agent only waits for an answer ({@link isWaiting}),
   * its output on the cancel is dropped: its question stays open.
   */
  interrupt(): Promise<void>;
  /**
   * Stops the process: {@link interrupt}, close, end of stdin, SIGTERM, SIGKILL, then the cleanup of left processes.
   * Safe to call twice; never rejects.
   */
  stop(): Promise<void>;
  /** Sends SIGKILL and cleans up at once, also during {@link stop}. Never rejects. */
  kill(): Promise<void>;
}

/** The session whose sandbox is opened, and the profile of its agent. */
export interface SandboxOpening {
  readonly profile: Pick<AgentProfile, 'id' | 'sandbox'>;
  readonly sessionId: string;
  /** True if the session starts with an empty workspace and home. */
  readonly isNew: boolean;
}

/** Starts agents. */
export interface Agents {
  /** The workspaces of sessions on all machines where these agents run. */
  readonly workspaces: readonly Workspaces[];
  /** The driver that runs agents of a profile. Throws {@link AgentCrash} if it does not work on this machine. */
  driverOf(
    profile: SandboxOpening['profile'],
  ): Pick<SandboxDriver, 'name' | 'workspaces' | 'restoreWorkspace' | 'openRepositoryFiles'>;
  /** Opens the sandbox for one run of a session, with the driver of the profile. Rejects with {@link AgentCrash}. */
  openSandbox(opening: SandboxOpening): Promise<Sandbox>;
  /** Spawns and initializes an agent. Rejects with {@link AgentCrash}; no process is left then. */
  launch(launch: AgentLaunch): Promise<AgentProcess>;
}

/**
 * The cause of an agent's failure. `crash`: it crashed or hung, and a retry may succeed. `program`: its program cannot
 * start. `login`: a login or key was refused. `request`: the request is invalid, such as an unknown model. `settings`:
 * it refuses a setting of its profile. `limit`: it was stopped because it sent too much at once. `quota`: the provider of
 * its model has reached a limit. `provider`: see {@link ProviderCrash}.
 */
export type CrashCause = 'crash' | 'program' | 'login' | 'request' | 'settings' | 'limit' | 'quota' | 'provider';

/**
 * An agent that ended, hung or refused its protocol. The message is for users; `stderrTail`, for the log, is the end of
 * its stderr. Both have the values of its environment variables masked.
 */
export class AgentCrash extends Error {
  readonly stderrTail: string;
  readonly reason: CrashCause;
  /** The time of the reset of the provider's limit by the monotonic clock, with the reason `quota`; null: unknown. */
  readonly #resetAt: number | null;

  constructor(message: string, stderrTail: string = '', reason: CrashCause = 'crash', resetMs: number | null = null) {
    super(message);
    this.name = 'AgentCrash';
    this.stderrTail = stderrTail;
    this.reason = reason;
    this.#resetAt = resetMs === null ? null : performance.now() + resetMs;
  }

  /** The time from now to the reset of the provider's limit, also if it has passed; null: unknown, or another reason. */
  get resetMs(): number | null {
    return this.#resetAt === null ? null : Math.max(1, Math.round(this.#resetAt - performance.now()));
  }
}

/** An agent that was stopped because of a {@link ProviderFailure}. */
export class ProviderCrash extends AgentCrash {
  readonly failure: ProviderFailure;

  constructor(failure: ProviderFailure) {
    super(failure.message, '', 'provider');
    this.name = 'ProviderCrash';
    this.failure = failure;
  }
}
