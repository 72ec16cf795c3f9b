import { setTimeout as wait } from 'node:timers/promises';
import { AgentCrash, type AgentProfile, type Agents, type AgentUpdate } from '../../agents/agent.ts';
import { removeTree } from '../../store/delete-tree.ts';
import type { Context } from '../context.ts';
import type { UsageUpdate } from '../metering/counter.ts';
import type { LimitReached } from '../metering/limits.ts';
import { createMeter, type Meter } from '../metering/meter.ts';
import { soundUsage } from '../metering/sound-usage.ts';
import { suspendForLimit } from '../metering/suspend-for-limit.ts';
import { clearSecretFiles } from '../prompts/session-files.ts';
import { createReports, type Reports } from '../reports/reports.ts';
import { FencedError } from '../sessions/log.ts';
import { type ClaimedRun, releaseLease } from './claims.ts';
import { type Commands, createCommands } from './commands.ts';
import { failureOf, MissingProfile } from './failures.ts';
import { gitVariables } from './git-identity.ts';
import { HeldRun } from './held-run.ts';
import { type LaunchPlan, planLaunch } from './launch.ts';
import { createMask, type Mask } from './masking.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { createSafeLength } from './safe-length.ts';
import { createSpanFinder } from './secret-spans.ts';
import { runTurns } from './turn-loop.ts';
import { noteAgentSession, noteCrash } from './turns.ts';

/** One session at work in this process, as the worker sees it. */
export interface ActiveRun extends ClaimedRun {
  /** Since when its agent has had nothing to do, by the monotonic clock; null: busy. */
  idleSince(): number | null;
  /** Ends it: the agent is stopped, and what was open stays open for the next holder. Resolves when all is done. */
  end(): Promise<void>;
  /** {@link end} for a session that this worker no longer holds: its agent calls its model no more from now on. */
  revoke(): Promise<void>;
  /** {@link end} for a session that may be somebody else's at any moment: the agent is killed at once. */
  abandon(): Promise<void>;
  /** Resolves when it has ended by itself, through {@link end} or {@link abandon}. Never rejects. */
  readonly done: Promise<void>;
}

/** What {@link runSession} is given beside the context. */
export interface RunOptions {
  readonly agents: Agents;
  readonly dataDir: string;
  /** The agent begins to have nothing to do: it may give way to another. */
  onIdle(): void;
}

/** Starts to work on a claimed session: its agent, its turns, until it is idle for long, over, lost or crashed. */
export function runSession(context: Context, run: ClaimedRun, options: RunOptions): ActiveRun {
  const held = new HeldRun(context, run, () => options.onIdle());
  const done = new SessionRun(held, options).conduct();
  return {
    ...run,
    idleSince: () => held.idleSince,
    end() {
      held.end();
      return done;
    },
    revoke() {
      held.revoke();
      held.end();
      return done;
    },
    abandon() {
      held.abandon();
      return done;
    },
    done,
  };
}

/** How long an agent that is stopped for a limit may still say what it was at: the session stops within ten seconds. */
const lastWordsMs = 2_000;

/** How much of what an agent wrote last to its stderr is told. */
const mostStderr = 2_000;

/** The waits before new tries where no profile says them. */
const usualDelaysMs = [5_000, 15_000, 60_000];

/** What is made of a launch plan. */
interface Parts {
  readonly profile: AgentProfile;
  readonly mask: Mask;
  /** See {@link createSafeLength}. */
  readonly safeLength: (text: string) => number;
  readonly recorder: Recorder;
  readonly reports: Reports;
  readonly meter: Meter;
}

class SessionRun {
  readonly #held: HeldRun;
  readonly #options: RunOptions;
  readonly #commands: Commands;
  #parts: Parts | null = null;
  #mask: Mask = (text) => text;
  #halting: Promise<void> = Promise.resolve();
  /** It is known that figures of this run's agent are left out. */
  #isDoubted = false;

  constructor(held: HeldRun, options: RunOptions) {
    this.#held = held;
    this.#options = options;
    this.#commands = createCommands(held, () => this.#parts);
  }

  /** Never rejects. */
  async conduct(): Promise<void> {
    const { context, run } = this.#held;
    const silence = context.bell.on(`command:${run.sessionId}`, () => this.#commands.look());
    // In the reverse of their order, once the agent has stopped.
    const cleanups: (() => unknown)[] = [];
    try {
      const plan = await planLaunch(context, run, this.#options.dataDir);
      cleanups.push(() => removeTree(plan.runtimeDir));
      cleanups.push(() => clearSecretFiles(plan));
      const parts = await this.#prepare(plan);
      await this.#work(plan, parts, cleanups);
    } catch (error) {
      await this.#fail(error);
    } finally {
      silence();
      await this.#tidy('An agent could not be stopped.', () => this.#held.agent?.stop());
      await this.#commands.settled();
      await this.#halting;
      await this.#tidy('What the last calls of a model used could not be written.', () => this.#parts?.meter.close());
      for (const cleanUp of cleanups.reverse()) await this.#tidy('A run could not be cleaned up.', cleanUp);
      await this.#tidy('A lease could not be given back; it ends by itself.', () => releaseLease(context, run));
    }
  }

  async #tidy(failed: string, act: () => unknown): Promise<void> {
    const { context, run } = this.#held;
    try {
      await act();
    } catch (error) {
      context.log.warn({ err: error, sessionId: run.sessionId }, failed);
    }
  }

  async #prepare(plan: LaunchPlan): Promise<Parts> {
    const { context, run } = this.#held;
    const profile = context.agentProfiles.get(plan.agent);
    if (!profile) throw new MissingProfile(plan.agent);
    const findSpans = createSpanFinder(plan.secretValues);
    this.#mask = createMask(plan.secretValues, findSpans);
    const mask = this.#mask;
    const look = () => this.#commands.look();
    const onReached = (reached: LimitReached) => {
      this.#halting = this.#halt(reached).catch((error: unknown) => this.#held.lose(error));
    };
    const onLost = (error: FencedError) => this.#held.lose(error);
    const isWaiting = () => this.#held.agent?.isWaiting() ?? false;
    this.#parts = {
      profile,
      mask,
      safeLength: createSafeLength(plan.secretValues, findSpans),
      recorder: createRecorder(context, run, plan.organizationId, mask, look),
      reports: await createReports(context, run, plan, { mask, mcp: profile.mcp, askTool: profile.askTool }),
      meter: createMeter(context, run, { isWaiting, onReached, onLost }),
    };
    return this.#parts;
  }

  async #work(plan: LaunchPlan, parts: Parts, cleanups: (() => unknown)[]): Promise<void> {
    const held = this.#held;
    const { context, run } = held;
    const { profile, safeLength, reports, meter } = parts;
    const reached = await meter.check();
    if (reached !== null) return suspendForLimit(context, run, reached);
    const served = await reports.serve();
    if (served) cleanups.push(() => served.close());
    if (held.isOver) return;
    const { workspaceDir, homeDir, runtimeDir, env } = plan;
    const agent = await this.#options.agents.launch({
      profile,
      workspaceDir,
      homeDir,
      runtimeDir,
      env,
      runtimeFiles: gitVariables,
      runId: run.sessionId,
      onUpdate: (update) => this.#take(parts, update),
      safeLength,
      maskOf: createMask,
      revoked: held.revoked,
    });
    held.agent = agent;
    if (held.isOver) return;
    const opened = await agent.open(run.agentSessionId, served ? [served.serverFor(agent.paths)] : []);
    // An id that holds a secret is not kept: the agent begins anew next time.
    const isTelling = parts.mask(opened.agentSessionId) !== opened.agentSessionId;
    await noteAgentSession(context, run, isTelling ? null : opened.agentSessionId);
    await meter.opened(opened.how);
    const { how } = opened;
    await runTurns(held, { ...parts, plan, commands: this.#commands, agent, how });
  }

  async #take({ recorder, reports, meter }: Parts, told: AgentUpdate): Promise<void> {
    // What a call used that was cut is used, whoever holds the session now. An agent's own words need a run to stand in.
    if (this.#held.isLost) {
      if (told.type === 'usage' && told.source === 'gateway') meter.usage(this.#believe(told));
      return;
    }
    try {
      const update = told.type === 'usage' ? this.#believe(told) : told;
      if (update.type === 'usage') meter.usage(update);
      await recorder.record(update);
      meter.noted();
      await reports.observe(update);
    } catch (error) {
      this.#held.lose(error);
    }
  }

  #believe(told: UsageUpdate): UsageUpdate {
    const { usage, refused } = soundUsage(told);
    if (refused.length > 0 && !this.#isDoubted) {
      this.#isDoubted = true;
      const { context, run } = this.#held;
      // Once for a run, and without the figures: an agent may say them often, and anything by them.
      const fields = { sessionId: run.sessionId, source: told.source, refused };
      context.log.warn(fields, 'An agent says that it used what nothing can have used; that is left out.');
    }
    return usage;
  }

  // A limit was reached in the middle of a turn. What the agent at work still says in a moment is kept; the turn stays open.
  async #halt(reached: LimitReached): Promise<void> {
    const held = this.#held;
    if (held.isOver) return;
    held.isOver = true;
    const patience = new AbortController();
    const late = wait(lastWordsMs, undefined, { signal: patience.signal }).catch(() => undefined);
    const interrupted = held.agent?.interrupt();
    // It is told first, so that it takes the end of its calls for that of its turn.
    held.revoke();
    await Promise.race([interrupted, late]);
    patience.abort();
    await this.#parts?.meter.turnEnded();
    await suspendForLimit(held.context, held.run, reached);
    held.isLost = true;
    held.end();
  }

  async #fail(error: unknown): Promise<void> {
    const { context, run, isOver, agent } = this.#held;
    if (isOver || error instanceof FencedError) return;
    const { sessionId } = run;
    const failure = failureOf(error);
    const message = this.#mask(failure.message);
    const stderr = error instanceof AgentCrash ? this.#mask(error.stderrTail, true).slice(-mostStderr).trim() : null;
    if (failure.code === 'internal') context.log.error({ sessionId, err: error }, 'A session could not be run.');
    else context.log.warn({ sessionId, reason: message, stderr }, 'An agent ended unexpectedly.');
    await agent?.stop();
    const delays = failure.isWorthRetrying ? (this.#parts?.profile.retryDelaysMs ?? usualDelaysMs) : [];
    await noteCrash(context, run, { ...failure, message, stderr }, delays).catch((failed: unknown) => {
      if (!(failed instanceof FencedError))
        context.log.error({ err: failed, sessionId }, 'A crash could not be written.');
    });
  }
}
