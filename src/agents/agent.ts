/** How one kind of agent is started and treated. Read from AGENTS_CONFIG; `demo` is built in. */
export interface AgentProfile {
  readonly id: string;
  readonly name: string;
  /** Program and arguments; a program without a slash is looked for in PATH. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The ACP method to authenticate with, where the agent needs one. */
  readonly authMethod: string | null;
  /** The ACP session mode to set. */
  readonly mode: string | null;
  /** What is answered when the agent asks for a permission; `ask` passes it on to the user. */
  readonly permission: 'auto' | 'ask' | 'deny';
  /** How an earlier session of the agent is taken up, best first; what stands after `new` is not tried. */
  readonly resumeOrder: readonly ('resume' | 'load' | 'new')[];
  /** What a turn that ends without a question makes of the session. */
  readonly onEndTurn: 'finished' | 'blocked';
  /** How long an idle process is kept for the next message. */
  readonly warmTtlMs: number;
  /** How long it may take to answer the first request, `initialize`. */
  readonly startTimeoutMs: number;
  /** The wait before each new try after a crash; as many crashes as it has items are forgiven. */
  readonly retryDelaysMs: readonly number[];
  /** Without any sign of life for so long in a turn, three times so long while a tool runs, an agent counts as hanging. */
  readonly inactivityMs: number;
  /** How long each rung of the stop ladder is given: after a cancel, after the end of stdin, after SIGTERM. */
  readonly stopGraces: { readonly cancelMs: number; readonly stdinMs: number; readonly termMs: number };
  /** Whether it takes the MCP servers that `session/new` names; without, it reports by its text alone. */
  readonly mcp: boolean;
  /** What its tool for questions to the user is called: some agents keep one name for a tool of their own. */
  readonly askTool: 'ask_user' | 'ask_the_user';
  /** What a message does that comes while the agent works: it waits for the turn's end, or the turn is cancelled for it. */
  readonly steer: 'wait' | 'cancel';
  /** The ACP session configuration options to set, by their ids (`model`, …); those that the agent does not offer are an error. */
  readonly config: Readonly<Record<string, string | boolean>>;
  /** Null: as this process does by default. */
  readonly sandbox: SandboxSettings | null;
  readonly provider: ProviderSettings | null;
  /** The memory that one process of it is reckoned with when a worker decides how many run at once, in MiB. */
  readonly memoryMb: number;
  /** How long a turn may take in all; null: as long as it shows signs of life. */
  readonly maxTurnMs: number | null;
}

/** How an agent is kept apart from its host. */
export interface SandboxSettings {
  readonly driver: 'none' | 'bwrap' | 'command';
  /** What stands before the agent's own command with the driver `command`; may hold placeholders. Else empty. */
  readonly command: readonly string[];
  /** `gateway`: nothing is reachable but the provider, through the gateway; nothing at all without one. */
  readonly network: 'shared' | 'gateway';
  /** Absolute paths of the host that the agent may read in the sandbox. */
  readonly readOnly: readonly string[];
  /** The most that each directory for temporary files may hold with the driver `bwrap`, in MiB. */
  readonly tmpMb: number;
  /** Where the agent finds its directories with the driver `command`; null: where they are on the host. */
  readonly paths: AgentPaths | null;
  /** What is run, with the same placeholders, after an agent of the driver `command` has ended or was killed. May be empty. */
  readonly stopCommand: readonly string[];
}

/** The maker of the model that an agent calls. */
export interface ProviderSettings {
  /** The variables that hold its keys: no secret of a session or an organization may take their place. */
  readonly variables: readonly string[];
  /** Its key, where the service knows it and a gateway stands before it. The agent never has it; never log it. */
  readonly key: string | null;
  /** How the gateway reaches it; null: the agent calls it by itself, with the key in its `env`. */
  readonly gateway: ProviderGateway | null;
}

/** A provider behind the gateway. */
export interface ProviderGateway {
  readonly api: 'openai' | 'anthropic' | 'gemini';
  /** Without a slash at its end. What follows the gateway's address in a call follows this one. */
  readonly baseUrl: string;
  /** Variables for the agent, over its `env`: `{url}` stands for the gateway's address, `{key}` for a key that it takes. */
  readonly env: Readonly<Record<string, string>>;
}

/** What a prompt is made of. A link is a file that the agent may open, by its address as the agent sees it. */
export type PromptBlock =
  | {
      readonly type: 'text';
      readonly text: string;
      /** Words of the service to the agent, not of the user. */
      readonly isPreface?: boolean;
    }
  | { readonly type: 'link'; readonly uri: string; readonly name: string; readonly mimeType: string | null };

/** An MCP server over stdio that the agent is to start. */
export interface McpServer {
  readonly name: string;
  /** The program, as the agent sees it. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Where the agent finds its directories; inside a sandbox that is elsewhere than on the host. */
export interface AgentPaths {
  readonly workspace: string;
  readonly home: string;
  readonly runtime: string;
}

/**
 * How a turn ended, in ACP's words (`end_turn`, `max_tokens`, `max_turn_requests`, `refusal`, `cancelled`), and
 * `max_turn_time` where it was cancelled because it took longer than the profile allows.
 */
export interface TurnEnd {
  readonly stopReason: string;
}

/** ACP's kinds of answers to a request for a permission. */
export const permissionOptionKinds = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;
/** See {@link permissionOptionKinds}. */
export type PermissionOptionKind = (typeof permissionOptionKinds)[number];

/** An answer that the agent offers with a question. */
export interface QuestionOption {
  /** Its number among the options, from "1". Agents' own ids may be of any length, and the same twice. */
  readonly id: string;
  /** One line. */
  readonly name: string;
  /** Null for the options of a plain question. */
  readonly kind: PermissionOptionKind | null;
}

/** The user's answer to a question: one of its options, or words. */
export interface QuestionReply {
  readonly text: string;
  /** Null: `text` is the answer. */
  readonly optionId: string | null;
}

/** A change to a file that a tool made. */
export interface ToolDiff {
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string;
}

/**
 * What an agent reports, in order, each once. Messages and thoughts are whole blocks, not chunks; only where the agent pauses
 * inside one, what it said so far is given, and the rest of it, `isMore`, later.
 */
export type AgentUpdate =
  | { readonly type: 'message'; readonly text: string; readonly isMore?: true }
  | { readonly type: 'thought'; readonly text: string; readonly isMore?: true }
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'title'; readonly title: string }
  | {
      readonly type: 'toolCall';
      readonly toolCallId: string;
      readonly title: string;
      readonly toolKind: string;
      readonly status: 'pending' | 'in_progress' | 'completed' | 'failed';
      readonly locations: readonly { readonly path: string; readonly line: number | null }[];
      /** At most 16,000 characters, as each side of a diff; a longer one is cut and says so. */
      readonly output: string | null;
      readonly diffs: readonly ToolDiff[];
    }
  | {
      readonly type: 'plan';
      readonly entries: readonly { readonly content: string; readonly status: string; readonly priority: string }[];
    }
  | {
      readonly type: 'usage';
      /**
       * Who counted: the gateway (what one call used), the answer to a prompt or the quota in it (what the turn used), or
       * the agent on its way. `costUsd` of an agent is what its session has cost in all, the gateway's what the call did.
       */
      readonly source: 'gateway' | 'response' | 'quota' | 'update';
      /** Calls of the model that this is about. */
      readonly llmCalls: number | null;
      readonly inputTokens: number | null;
      readonly outputTokens: number | null;
      /** Of the input tokens, those from the provider's cache. */
      readonly cachedTokens: number | null;
      readonly totalTokens: number | null;
      readonly costUsd: number | null;
      readonly contextUsed: number | null;
      readonly contextSize: number | null;
    }
  | {
      readonly type: 'permission';
      readonly toolCallId: string;
      readonly title: string;
      readonly decision: 'allowed' | 'denied' | 'cancelled';
      /** The question in which the user was asked; null: the profile decided. */
      readonly questionId: string | null;
      /** The option that was chosen of those that the question offers; null: none, or the profile decided. */
      readonly option: QuestionOption | null;
    }
  | {
      readonly type: 'question';
      /** For {@link AgentProcess.answer}. */
      readonly questionId: string;
      readonly text: string;
      readonly options: readonly QuestionOption[];
      readonly reason: 'question' | 'permission';
    };

/** A request to an agent and what became of it. */
export interface AgentExchange {
  readonly method: string;
  readonly tookMs: number;
  /** As the agent answered; undefined when it did not, or refused. */
  readonly result: unknown;
  readonly error: Error | null;
}

/** What a process is started with. */
export interface AgentLaunch {
  readonly profile: AgentProfile;
  readonly workspaceDir: string;
  /** HOME of the process; agents keep their sessions there. */
  readonly homeDir: string;
  /** For the unix sockets of this run, so its path is short (107 bytes are the most of a socket's); 0700, removed at its end. */
  readonly runtimeDir: string;
  /** Secrets for the child's environment only. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Variables that hold the paths of files in the runtime directory, by the names of the files, which may be written later. The
   * profile's `env` and {@link AgentLaunch.env} go before them.
   */
  readonly runtimeFiles?: Readonly<Record<string, string>>;
  /** The session, as part of the mark by which left-over processes are found. */
  readonly runId: string;
  /** Hears of each request to the agent, when it is over; for a look at what an agent can do. Must not throw. */
  onExchange?(exchange: AgentExchange): void;
  /** Hears of the tools that each call of the model shows it, where the gateway sees that. Must not throw. */
  onTools?(tools: readonly { readonly name: string; readonly description: string }[]): void;
  /** Awaited before the next update is given; must not throw. */
  onUpdate(update: AgentUpdate): Promise<void>;
  /**
   * Makes a function that blots these values out of a text, in all the forms in which programs write them; with `isPiece`
   * also a part of one at the text's borders. Left out: only the values as they are.
   */
  maskOf?(values: readonly string[]): (text: string, isPiece?: boolean) => string;
  /** Once it aborts, the agent calls its model no more: the gateway ends all calls, however long the agent takes to stop. */
  readonly revoked?: AbortSignal;
  /** How much of a text may be given when the rest is still to come: a secret must not be cut in two. Left out: all. */
  safeLength?(text: string): number;
}

/** A running agent with at most one session of its own and one prompt in flight. */
export interface AgentProcess {
  readonly pid: number;
  readonly paths: AgentPaths;
  /** Resolves with how the process ended, also between turns; never rejects. */
  readonly exited: Promise<string>;
  /** Takes up the earlier session as the profile says, or opens a new one. Rejects with {@link AgentCrash}. */
  open(
    previousSessionId: string | null,
    mcpServers?: readonly McpServer[],
  ): Promise<{ agentSessionId: string; how: 'new' | 'resume' | 'load' }>;
  /** One turn; resolves when every update of it went through onUpdate. Rejects with {@link AgentCrash}. */
  prompt(blocks: readonly PromptBlock[]): Promise<TurnEnd>;
  /** Whether a question is open, and nothing shows that the agent works at something else meanwhile. */
  isWaiting(): boolean;
  /** Answers an open question; false when it is not open, or has no such option. */
  answer(questionId: string, reply: QuestionReply): boolean;
  /** Cancels the turn; resolves when it ended, or after the profile's grace. */
  cancel(): Promise<void>;
  /**
   * {@link cancel} for a turn that stays open and is taken up again later. While the agent only waits for an answer
   * ({@link isWaiting}), what it says to the cancel is not given: its question still stands.
   */
  interrupt(): Promise<void>;
  /** The stop ladder: {@link interrupt}, close, end of stdin, SIGTERM, SIGKILL, sweep. Safe to call twice; never rejects. */
  stop(): Promise<void>;
  /** SIGKILL and sweep, at once, also in the middle of {@link stop}. Never rejects. */
  kill(): Promise<void>;
}

/** Starts agents. */
export interface Agents {
  /** Spawns and initializes. Rejects with {@link AgentCrash}; no process is left then. */
  launch(launch: AgentLaunch): Promise<AgentProcess>;
}

/**
 * Why an agent failed: it crashed or hung, and may do better when it is tried again; its program cannot be started; it was
 * refused a login or a key; what it was asked is refused for what it is (a model that does not exist); it does not take
 * what its profile sets; or it was stopped because it sent more at once than is read.
 */
export type CrashCause = 'crash' | 'program' | 'login' | 'request' | 'settings' | 'limit';

/**
 * An agent that ended, hung or refused its protocol. The message is for users; `stderrTail`, for the log, is whatever it
 * wrote. In both the values of the variables that it was given are blotted out.
 */
export class AgentCrash extends Error {
  readonly stderrTail: string;
  readonly reason: CrashCause;

  constructor(message: string, stderrTail: string = '', reason: CrashCause = 'crash') {
    super(message);
    this.name = 'AgentCrash';
    this.stderrTail = stderrTail;
    this.reason = reason;
  }
}
