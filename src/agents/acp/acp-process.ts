import {
  type ClientConnection,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
} from '@agentclientprotocol/sdk';
import { within } from '../../common/within.ts';
import {
  AgentCrash,
  type AgentLaunch,
  type AgentProcess,
  type AgentUpdate,
  type McpServer,
  type PromptBlock,
  type QuestionReply,
  type TurnEnd,
} from '../agent.ts';
import type { AgentOffer } from '../options/agent-option.ts';
import type { AgentPaths } from '../sandbox/settings.ts';
import type { Child } from './child.ts';
import { isTextChunk, toContent, toServer } from './content.ts';
import { killLeftCommands } from './left-commands.ts';
import {
  type AgentSelf,
  type FailedMethods,
  openSession,
  type ResumeMethod,
  type StartTimeouts,
} from './open-session.ts';
import { createPauses, type Pauses, type PauseTimes } from './pauses.ts';
import { watchProviderLimit } from './provider-limit.ts';
import { createQuestions, type Questions } from './questions.ts';
import { untilReplayed } from './quiet.ts';
import { createRequests, named, type Requests } from './requests.ts';
import { createSessionOptions, type SessionOptions } from './session-options.ts';
import { createSideWork } from './side-work.ts';
import { stopReasonOf } from './stop-reason.ts';
import { oneLine } from './text-limits.ts';
import { isEcho } from './titles.ts';
import { progressMs } from './tool-calls.ts';
import { weightOf } from './tool-output.ts';
import { asCancelled, createUpdateAssembler, hasUsage, readUsage, type UpdateAssembler } from './updates.ts';
import { startWatchdog } from './watchdog.ts';

/** The timeout of requests whose result does not matter (close). */
const closeTimeoutMs = 2_000;
/** The maximum number of an agent's updates that wait to be written before reading pauses. */
const maxUndelivered = 32;

/** One agent process that speaks ACP version 1. */
export class AcpProcess implements AgentProcess {
  readonly paths: AgentPaths;
  readonly exited: Promise<string>;
  readonly questions: Questions;
  readonly #launch: AgentLaunch;
  readonly #child: Child;
  readonly #timeouts: StartTimeouts;
  readonly #failedMethods: FailedMethods;
  readonly #assembler: UpdateAssembler;
  readonly #sideWork = createSideWork();
  readonly #options: SessionOptions;
  readonly #pauses: Pauses;
  #connection: ClientConnection | null = null;
  #open: Requests | null = null;
  #self: AgentSelf = { protocolVersion: PROTOCOL_VERSION };
  #sessionId: string | null = null;
  #turn: Promise<unknown> | null = null;
  #promptBlocks: readonly PromptBlock[] = [];
  #isHanging = false;
  #isMuted = false;
  #isReading = false;
  #deliveries: Promise<void> = Promise.resolve();
  #undelivered = 0;
  #progress: NodeJS.Timeout | undefined;
  #lastSignAt = 0;
  #promptedMs = 0;
  #stopped: Promise<void> | null = null;
  #turnStop: Promise<void> | null = null;
  #isKilled = false;
  #lastMessage = '';
  #endKilledTurn: () => void = () => undefined;

  constructor(launch: AgentLaunch, child: Child, timeouts: StartTimeouts & PauseTimes, failedMethods: FailedMethods) {
    this.paths = launch.sandbox.paths;
    this.exited = child.exited;
    this.#launch = launch;
    this.#pauses = createPauses(timeouts.quietMs, timeouts.longMs, () => this.#pause());
    this.#assembler = createUpdateAssembler(undefined, launch.drafts);
    this.#child = child;
    this.#timeouts = timeouts;
    this.#failedMethods = failedMethods;
    const onOffer = (offer: AgentOffer) => this.#launch.onOffer?.(offer);
    this.#options = createSessionOptions(() => this.#requests, onOffer);
    this.questions = createQuestions(
      launch.profile.permission,
      (update) => this.#report(update),
      (toolCallId, isFirst) => this.#sideWork.recordQuestion(toolCallId, isFirst),
    );
  }

  /** Performs the handshake. `clientCapabilities` in ACP's form. */
  async start(connection: ClientConnection, clientInfo: object, clientCapabilities: object): Promise<void> {
    this.#connection = connection;
    this.#open = createRequests(this.#child, connection, () => this.#isReading, this.#launch.onExchange);
    const { authMethod, startTimeoutMs } = this.#launch.profile;
    const { authenticateMs } = this.#timeouts;
    const params = { protocolVersion: PROTOCOL_VERSION, clientInfo, clientCapabilities };
    this.#self = await this.#requests.send<AgentSelf>('initialize', params, startTimeoutMs);
    const { protocolVersion } = this.#self;
    if (protocolVersion !== PROTOCOL_VERSION) {
      throw this.#requests.crash(
        `The agent speaks version ${protocolVersion} of the Agent Client Protocol; version ${PROTOCOL_VERSION} was expected.`,
      );
    }
    if (authMethod !== null) await this.#requests.send('authenticate', { methodId: authMethod }, authenticateMs);
  }

  get #requests(): Requests {
    if (!this.#open) throw new AgentCrash('The agent is not connected.');
    return this.#open;
  }

  /** Called when the processing of a received message starts and ends. */
  reading(isReading: boolean): void {
    this.#isReading = isReading;
  }

  /** Handles a `session/update`. */
  onUpdate({ sessionId, update }: SessionNotification): void {
    if (sessionId === this.#sessionId) {
      this.#sideWork.recordUpdate(update);
      this.#options.observe(update);
    }
    this.#takeIn({ sessionId, update });
  }

  #takeIn({ sessionId, update }: SessionNotification): void {
    this.#lastSignAt = performance.now();
    // While a session is loaded, no session is open: its history is replayed, and the log has it already. After a load
    // was abandoned, a late update belongs to another session.
    if (sessionId !== this.#sessionId || this.#isKilled) return;
    // Tool calls and usage count regardless of an open question.
    if (this.#isMuted && isTextChunk(update)) return;
    const isNews = (each: AgentUpdate) => each.type !== 'title' || !isEcho(each.title, this.#promptBlocks);
    const news = this.#assembler.take(update).filter(isNews);
    // Codex reports the end of a command after that of its stopped turn.
    this.#deliver(this.#turnStop !== null || this.#isMuted ? news.map(asCancelled) : news);
    if (this.#assembler.isBlockOpen()) this.#pauses.recordText();
    if (this.#assembler.hasDeferredProgress()) this.#scheduleProgress();
  }

  /** A permission request also describes its tool call, and opencode shows the diff of an edit only there. */
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const { sessionId, toolCall } = request;
    this.#takeIn({ sessionId, update: { ...toolCall, sessionUpdate: 'tool_call_update' } });
    const title = toolCall.title ?? this.#assembler.titleOf(toolCall.toolCallId);
    return this.questions.permission({ ...request, toolCall: { ...toolCall, title } });
  }

  open(previousSessionId: string | null, servers: readonly McpServer[] = []): ReturnType<AgentProcess['open']> {
    const { profile } = this.#launch;
    const opening = {
      requests: this.#requests,
      profile,
      self: this.#self,
      failedMethods: this.#failedMethods,
      timeoutMs: this.#timeouts.openMs,
      params: { cwd: this.#launch.cwd ?? this.paths.workspace, mcpServers: profile.mcp ? servers.map(toServer) : [] },
      opened: (sessionId: string, how: ResumeMethod, response: unknown) => this.#opened(sessionId, how, response),
      isGone: () => within(this.exited, 0),
    };
    return openSession(opening, previousSessionId);
  }

  async #opened(sessionId: string, how: ResumeMethod, response: unknown): Promise<void> {
    // Gemini CLI answers a load first and then continues to send the history.
    if (how === 'load') await untilReplayed(() => this.#lastSignAt);
    const { mode, config } = this.#launch.profile;
    const { openMs } = this.#timeouts;
    this.#sessionId = sessionId;
    this.#options.opened(response);
    try {
      if (mode !== null) {
        const setting = this.#options.setMode(sessionId, mode, openMs);
        await named(setting, `The agent did not take the mode ${JSON.stringify(mode)} of its profile`);
      }
      for (const [configId, value] of Object.entries(config)) {
        const setting = this.#options.configure(sessionId, configId, value, openMs);
        const what = `${JSON.stringify(configId)}: ${JSON.stringify(value)}`;
        await named(setting, `The agent did not take the option ${what} of its profile’s "config"`);
      }
    } catch (error) {
      this.#sessionId = null;
      throw error;
    }
  }

  get version(): string | null {
    const { name, version } = this.#self.agentInfo ?? {};
    return oneLine([name, version].filter((each) => typeof each === 'string').join(' ')) || null;
  }

  offer(): AgentOffer {
    return this.#options.offer();
  }

  setOption(id: string, value: string): Promise<void> {
    if (this.#sessionId === null) throw new Error('No session is open.');
    return this.#options.set(this.#sessionId, id, value, this.#timeouts.optionMs);
  }

  async prompt(blocks: readonly PromptBlock[]): Promise<TurnEnd> {
    if (this.#turn !== null) throw new Error('A turn is already in progress.');
    this.questions.open();
    this.#sideWork.reset();
    this.#isMuted = false;
    // Text sent between turns does not belong to this turn's first message.
    this.#deliver(this.#assembler.flush());
    this.#lastSignAt = performance.now();
    this.#lastMessage = '';
    this.#promptedMs = this.#lastSignAt;
    const { inactivityMs, maxTurnMs } = this.#launch.profile;
    const isWaiting = () => this.isWaiting();
    const watchdog = startWatchdog({ inactivityMs, maxTurnMs, lastSign: () => this.#lastSign(), isWaiting });
    const prompt = blocks.map(toContent);
    this.#promptBlocks = blocks;
    const answer = this.#requests.send<{ stopReason?: unknown } | null>('session/prompt', {
      sessionId: this.#sessionId,
      prompt,
    });
    this.#turn = answer.catch(() => undefined);
    let isOverdue = false;
    const hung = watchdog.hung.then(async (ms) => {
      // Cancelled so that it can clean up; its answer is not trusted any more.
      this.#isHanging = true;
      await this.cancel();
      throw this.#requests.crash(`The agent sent nothing for ${ms / 1_000} s.`);
    });
    const stuck = watchdog.overdue.then(async () => {
      isOverdue = true;
      if (await this.#cancelTurn()) return answer;
      this.#isHanging = true;
      throw this.#requests.crash(
        `The agent did not end its turn after ${(maxTurnMs ?? 0) / 1_000} s, when it was told to.`,
      );
    });
    const limit = watchProviderLimit(this.#child, this.#requests, () => this.cancel());
    for (const each of [hung, stuck]) each.catch(() => undefined);
    const killed = new Promise<null>((resolve) => {
      this.#endKilledTurn = () => resolve(null);
    });
    try {
      const result = await Promise.race([answer, hung, stuck, killed, limit.reached]);
      if (this.#isKilled) return { stopReason: 'cancelled', isKilled: true };
      if (this.#isHanging) await hung;
      if (limit.isReached()) await limit.reached;
      const usage = readUsage(result ?? {});
      this.#deliver([...this.#assembler.endTurn(), ...(hasUsage(usage) ? [usage] : [])]);
      const stopReason = stopReasonOf(result);
      if (stopReason === 'end_turn') limit.requireNone(this.#lastMessage, usage);
      return { stopReason: isOverdue && stopReason === 'cancelled' ? 'max_turn_time' : stopReason };
    } catch (error) {
      throw limit.explain(error);
    } finally {
      watchdog.stop();
      this.#turn = null;
      // Text after a stopped turn belongs to no message.
      if (this.#turnStop !== null) this.#isMuted = true;
      this.#turnStop = null;
      // After the end of a turn, its questions need no answers.
      this.questions.cancelAll();
      // Also after a failed turn: the text received before belongs in the log.
      this.#deliver(this.#assembler.endTurn());
      await this.#deliveries;
    }
  }

  isWaiting(): boolean {
    return this.questions.isAnyOpen() && this.#sideWork.isQuiet();
  }

  answer(questionId: string, reply: QuestionReply): boolean {
    this.#lastSignAt = performance.now();
    return this.questions.answer(questionId, reply);
  }

  async cancel(): Promise<void> {
    await this.#cancelTurn();
  }

  stopTurn(): Promise<void> {
    if (this.#turn === null) return Promise.resolve();
    this.#turnStop ??= this.#stopTurn();
    return this.#turnStop;
  }

  async #stopTurn(): Promise<void> {
    const { interruptMs } = this.#launch.profile.stopGraces;
    const deadlineMs = performance.now() + interruptMs;
    const stopped = { promptedMs: this.#promptedMs, commandSinceMs: this.#assembler.commandSince(), deadlineMs };
    if (await this.#cancelTurn(interruptMs)) return killLeftCommands(this.#child, stopped);
    this.#isKilled = true;
    this.#endKilledTurn();
    void this.kill();
  }

  // The cancel also ends the agent's open question, but the user has not answered, so the question stays open. An agent
  // that works beside its question may report its progress when it is cancelled.
  async interrupt(): Promise<void> {
    if (this.isWaiting()) {
      this.#deliver(this.#assembler.flush());
      this.#isMuted = true;
    }
    await this.#cancelTurn();
  }

  // Resolves to true if the turn ended in time.
  async #cancelTurn(graceMs: number = this.#launch.profile.stopGraces.cancelMs): Promise<boolean> {
    const turn = this.#turn;
    if (turn === null) return true;
    this.questions.cancelAll();
    this.#requests.notify('session/cancel', { sessionId: this.#sessionId });
    return within(turn, graceMs);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  kill(): Promise<void> {
    this.#child.kill();
    return this.stop();
  }

  async #stop(): Promise<void> {
    // A hanging agent has already been cancelled.
    const isResponsive = this.#open !== null && !this.#isHanging && !this.#isKilled && !(await within(this.exited, 0));
    if (isResponsive) await this.interrupt();
    const canClose = this.#self.agentCapabilities?.sessionCapabilities?.close != null;
    if (isResponsive && canClose && this.#sessionId !== null && this.#turn === null) {
      await within(this.#requests.send('session/close', { sessionId: this.#sessionId }), closeTimeoutMs);
    }
    this.questions.cancelAll();
    await this.#child.stop();
    this.#connection?.close();
  }

  #scheduleProgress(): void {
    this.#progress ??= setTimeout(() => {
      this.#progress = undefined;
      this.#deliver(this.#assembler.progress());
    }, progressMs).unref();
  }

  // A question of the agent completes its text.
  #report(update: AgentUpdate): void {
    this.#deliver([...this.#assembler.flush(), update]);
  }

  // Delivers updates one after another and awaits each, so that the log has the agent's order.
  #deliver(updates: readonly AgentUpdate[]): void {
    if (!this.#assembler.isBlockOpen()) this.#pauses.clear();
    for (const update of updates) {
      if (update.type === 'message') this.#lastMessage = update.isMore === true ? '' : update.text;
      const weight = weightOf(update);
      this.#undelivered += weight;
      this.#deliveries = this.#deliveries
        .then(() => this.#launch.onUpdate(update))
        .catch(() => undefined)
        .then(() => {
          this.#undelivered -= weight;
        });
    }
  }

  // While its messages wait for this service, which then reads no more of them, the agent is not pausing.
  #pause(): void {
    if (this.#undelivered > 0) this.#pauses.recordText();
    else
      this.#deliver(this.#assembler.pause((text, draftId) => this.#launch.safeLength?.(text, draftId) ?? text.length));
  }

  /** A promise while too many of the agent's updates wait to be processed; reading pauses until it resolves. */
  room(): Promise<void> | null {
    return this.#undelivered < maxUndelivered ? null : this.#deliveries;
  }

  // An agent that waits for the user does not hang, and one whose tool runs may be silent longer (docs/agents.md#timeouts).
  #lastSign(): { atMs: number; timeoutFactor: number } {
    if (this.questions.isAnyOpen() && !this.#sideWork.isToolRunning()) this.#lastSignAt = performance.now();
    // An agent whose messages still wait for this service is not hanging either.
    if (this.#undelivered > 0) this.#lastSignAt = performance.now();
    return { atMs: this.#lastSignAt, timeoutFactor: this.#assembler.isToolRunning() ? 3 : 1 };
  }
}
