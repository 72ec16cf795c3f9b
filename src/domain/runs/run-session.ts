import { rm } from 'node:fs/promises';
import {
  AgentCrash,
  type AgentProcess,
  type AgentProfile,
  type Agents,
  type PromptBlock,
  type TurnEnd,
} from '../../agents/agent.ts';
import type { Context } from '../context.ts';
import type { StatusChange } from '../sessions/change-session.ts';
import { FencedError, type NewEntry } from '../sessions/log.ts';
import { type ClaimedRun, releaseLease } from './claims.ts';
import { planLaunch } from './launch.ts';
import { createMask } from './masking.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import {
  closeInterrupted,
  endTurn,
  isStillHeld,
  noteAgentSession,
  noteAnswer,
  noteCrash,
  readAnswers,
  readInbox,
  readTurnMessages,
  startTurn,
} from './turns.ts';

/** One session at work in this process, as the worker sees it. */
export interface ActiveRun extends ClaimedRun {
  /** Since when its agent has had nothing to do, by the monotonic clock; null: busy. */
  idleSince(): number | null;
  /** Ends it: the agent is stopped, and what was open stays open for the next holder. Resolves when all is done. */
  end(): Promise<void>;
  /** Resolves when it has ended by itself or through {@link end}. Never rejects. */
  readonly done: Promise<void>;
}

/** What {@link runSession} is given beside the context. */
export interface RunOptions {
  readonly agents: Agents;
  readonly dataDir: string;
}

/** Starts to work on a claimed session: its agent, its turns, until it is idle for long, over, lost or crashed. */
export function runSession(context: Context, run: ClaimedRun, options: RunOptions): ActiveRun {
  const loop = new SessionLoop(context, run, options);
  const done = loop.run();
  return {
    ...run,
    idleSince: () => loop.idleSince,
    end: () => {
      loop.requestEnd();
      return done;
    },
    done,
  };
}

// A question, a refusal and a limit of the model leave the session waiting for the user (pinned 3).
const stopMessages: Partial<Record<string, string>> = {
  'max_tokens': 'The agent stopped because it reached the limit of tokens. Send a message to let it go on.',
  'max_turn_requests':
    'The agent stopped because it reached the limit of requests in one turn. Send a message to let it go on.',
  refusal: 'The agent refused to go on.',
};

class SessionLoop {
  idleSince: number | null = null;
  readonly #context: Context;
  readonly #run: ClaimedRun;
  readonly #options: RunOptions;
  #agent: AgentProcess | null = null;
  #isEnding = false;
  #isLost = false;
  #wake: (() => void) | null = null;
  #isRung = false;
  #check: Promise<void> = Promise.resolve();
  #mask: (text: string) => string = (text) => text;

  constructor(context: Context, run: ClaimedRun, options: RunOptions) {
    this.#context = context;
    this.#run = run;
    this.#options = options;
  }

  requestEnd(): void {
    this.#isEnding = true;
    this.#ring();
    void this.#agent?.stop();
  }

  async run(): Promise<void> {
    const { bell, log } = this.#context;
    const { sessionId } = this.#run;
    let profile: AgentProfile | undefined;
    let runtimeDir: string | null = null;
    let recorder: Recorder | null = null;
    const silence = bell.on(`command:${sessionId}`, () => {
      this.#ring();
      this.#check = this.#check.then(() => this.#obey(recorder)).catch((error: unknown) => this.#lose(error));
    });
    try {
      const plan = await planLaunch(this.#context, sessionId, this.#options.dataDir);
      runtimeDir = plan.runtimeDir;
      profile = this.#context.agentProfiles.get(plan.agent);
      if (!profile) throw new Error(`There is no agent profile "${plan.agent}".`);
      this.#mask = createMask(plan.secretValues);
      const obey = () => {
        this.#check = this.#check.then(() => this.#obey(recorder)).catch((error: unknown) => this.#lose(error));
      };
      recorder = createRecorder(this.#context, this.#run, plan.organizationId, this.#mask, obey);
      await this.#launch(plan, profile, recorder);
      await this.#turns(profile, recorder);
    } catch (error) {
      await this.#fail(error, profile?.retryDelaysMs ?? []);
    } finally {
      silence();
      await this.#agent
        ?.stop()
        .catch((error: unknown) => log.error({ err: error, sessionId }, 'An agent could not be stopped.'));
      await this.#check;
      if (runtimeDir !== null) await rm(runtimeDir, { recursive: true, force: true }).catch(() => undefined);
      await releaseLease(this.#context, this.#run).catch((error: unknown) =>
        log.warn({ err: error, sessionId }, 'A lease could not be given back; it ends by itself.'),
      );
    }
  }

  async #launch(
    plan: Awaited<ReturnType<typeof planLaunch>>,
    profile: AgentProfile,
    recorder: Recorder,
  ): Promise<void> {
    const { sessionId } = this.#run;
    const { workspaceDir, homeDir, runtimeDir, env } = plan;
    const onUpdate = async (update: Parameters<Recorder['record']>[0]) => {
      if (this.#isLost) return;
      await recorder.record(update).catch((error: unknown) => this.#lose(error));
    };
    this.#agent = await this.#options.agents.launch({
      profile,
      workspaceDir,
      homeDir,
      runtimeDir,
      env,
      runId: sessionId,
      onUpdate,
    });
    if (this.#isEnding) return;
    const opened = await this.#agent.open(this.#run.agentSessionId);
    await noteAgentSession(this.#context, this.#run, opened.agentSessionId);
  }

  async #turns(profile: AgentProfile, recorder: Recorder): Promise<void> {
    let interrupted = this.#run.isTurnOpen;
    while (!this.#isEnding && !this.#isLost) {
      this.#isRung = false;
      const inbox = interrupted ? [] : await readInbox(this.#context, this.#run.sessionId);
      if (!interrupted && inbox.length === 0) {
        if (!(await this.#idle(profile.warmTtlMs))) return;
        continue;
      }
      const blocks = interrupted ? await this.#recoveryPrompt() : inbox.map((message) => textBlock(message.body));
      interrupted = false;
      await startTurn(this.#context, this.#run, inbox);
      const end = await (this.#agent as AgentProcess).prompt(blocks);
      recorder.closeQuestion();
      if (this.#isEnding || this.#isLost) return;
      await this.#check;
      await endTurn(this.#context, this.#run, end.stopReason, ...outcomeOf(end, profile));
    }
  }

  async #recoveryPrompt(): Promise<PromptBlock[]> {
    await closeInterrupted(this.#context, this.#run);
    const messages = await readTurnMessages(this.#context, this.#run.sessionId);
    const words =
      'The agent process was interrupted. What the user had said follows. Check the workspace and continue.';
    return [{ type: 'text', text: words, isPreface: true }, ...messages.map((message) => textBlock(message.body))];
  }

  // True: rung, or asked to end. False: nothing came for the whole time, or the warm agent ended, which harms nobody.
  #idle(warmTtlMs: number): Promise<boolean> {
    if (this.#isRung) return Promise.resolve(true);
    this.idleSince = performance.now();
    return new Promise<boolean>((resolve) => {
      const finish = (rung: boolean) => {
        clearTimeout(timer);
        this.#wake = null;
        this.idleSince = null;
        resolve(rung);
      };
      const timer = setTimeout(() => finish(false), warmTtlMs).unref();
      this.#wake = () => finish(true);
      void this.#agent?.exited.then(() => finish(false));
    });
  }

  #ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  // A ring says that something happened: the session was ended or taken, or the user spoke while a question is open.
  async #obey(recorder: Recorder | null): Promise<void> {
    if (this.#isLost || this.#isEnding) return;
    if (!(await isStillHeld(this.#context, this.#run))) return this.#lose(new FencedError(this.#run.sessionId));
    const question = recorder?.openQuestion() ?? null;
    if (question === null) return;
    const answers = await readAnswers(this.#context, this.#run.sessionId, question.seq);
    if (answers.length === 0) return;
    await noteAnswer(this.#context, this.#run, answers);
    recorder?.closeQuestion();
    this.#agent?.answer(question.id, answers.map((message) => message.body).join('\n\n'));
  }

  // The session is no longer this worker's, or cannot be written: the agent must not go on.
  #lose(error: unknown): void {
    if (this.#isLost) return;
    this.#isLost = true;
    if (!(error instanceof FencedError)) {
      this.#context.log.error(
        { err: error, sessionId: this.#run.sessionId },
        'A session could not be written; its agent is stopped.',
      );
    }
    this.#ring();
    void this.#agent?.stop();
  }

  async #fail(error: unknown, retryDelaysMs: readonly number[]): Promise<void> {
    if (this.#isEnding || this.#isLost || error instanceof FencedError) return;
    const { log } = this.#context;
    const { sessionId } = this.#run;
    const message = this.#mask(error instanceof Error ? error.message : 'The agent ended unexpectedly.');
    const stderr = error instanceof AgentCrash ? this.#mask(error.stderrTail) : undefined;
    log.warn({ sessionId, reason: message, stderr }, 'An agent ended unexpectedly.');
    await this.#agent?.stop();
    await noteCrash(this.#context, this.#run, message, retryDelaysMs).catch((failure: unknown) => {
      if (!(failure instanceof FencedError)) log.error({ err: failure, sessionId }, 'A crash could not be written.');
    });
  }
}

function textBlock(text: string): PromptBlock {
  return { type: 'text', text };
}

function outcomeOf(end: TurnEnd, profile: AgentProfile): [NewEntry[], StatusChange] {
  const finished: StatusChange = { status: 'exit', statusDetail: 'finished', endedBy: 'finished', isFresh: false };
  const blocked: StatusChange = { status: 'running', statusDetail: 'waiting_for_user', isFresh: false };
  const body = stopMessages[end.stopReason];
  if (body !== undefined) return [[{ kind: 'MESSAGE', messageType: 'agent_message', body }], blocked];
  return [[], profile.onEndTurn === 'blocked' || end.stopReason === 'cancelled' ? blocked : finished];
}
