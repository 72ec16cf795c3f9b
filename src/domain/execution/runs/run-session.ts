import { posix } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { AgentProfile, Agents, AgentUpdate } from '../../../agents/agent.ts';
import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import type { FencedError } from '../../sessions/log.ts';
import { type ChangesRecorder, createChangesRecorder } from '../changes/changes-recorder.ts';
import type { CheckpointMetrics } from '../checkpoints/checkpoint-metrics.ts';
import type { CheckpointRecorder } from '../checkpoints/checkpoint-recorder.ts';
import type { MonotonicClock } from '../checkpoints/monotonic-clock.ts';
import { openCheckpointRecorder } from '../checkpoints/open-recorder.ts';
import { createDraftSender, type DraftSender } from '../drafts/draft-sender.ts';
import { createHeadCheck, type HeadCheck } from '../drafts/head-check.ts';
import { createStreamMask } from '../drafts/stream-mask.ts';
import type { WatchedSessions } from '../drafts/watched-sessions.ts';
import { beginWithBuild } from '../environments/begin-with-build.ts';
import { openSessionEnvironment, type SessionEnvironment } from '../environments/session-environment.ts';
import type { UsageUpdate } from '../metering/counter.ts';
import type { LimitReached } from '../metering/limits.ts';
import { createMeter, type Meter } from '../metering/meter.ts';
import { suspendForLimit } from '../metering/suspend-for-limit.ts';
import { validateUsage } from '../metering/validate-usage.ts';
import { clearSecretFiles } from '../prompts/session-files.ts';
import { createOutcomeRecorder } from '../provider-keys/key-outcomes.ts';
import type { Reservations } from '../provider-keys/reservations.ts';
import { createRunCredential, type RunCredential } from '../provider-keys/run-credential.ts';
import { createReports, type Reports } from '../reports/reports.ts';
import { prepareRepositories } from '../repositories/prepare-repositories.ts';
import { prepareWorkspace } from '../restores/restore-run.ts';
import { recordSaved } from '../restores/saved-record.ts';
import { createOutputRecorder } from '../tool-output/output-recorder.ts';
import { type ClaimedRun, releaseLease } from './claims.ts';
import { type Commands, createCommands } from './commands.ts';
import { gitVariables } from './git-identity.ts';
import { directoryOf, type LaunchPlan, planLaunch } from './launch.ts';
import { LeasedRun } from './leased-run.ts';
import { createMask, type Mask } from './masking.ts';
import { createOptionControl, type OptionControl } from './option-control.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { endFailedRun } from './run-failures.ts';
import { createSafeLength } from './safe-length.ts';
import { createSpanFinder } from './secret-spans.ts';
import { runTurns } from './turn-loop.ts';
import { endTurn, recordAgentSession } from './turns.ts';

/** One active session in this process, as the worker sees it. */
export interface ActiveRun extends ClaimedRun {
  /** The time since which its agent has been idle, by the monotonic clock; null: busy. */
  idleSince(): number | null;
  /** Ends it: the agent is stopped, and an open turn stays open for the next worker. Resolves when all is done. */
  end(): Promise<void>;
  /** {@link end} for a session that another worker is to continue: it may do so at once if the workspace is stored. */
  handOver(): Promise<void>;
  /** {@link end} for a session that this worker has lost: its agent can't call its model any more. */
  revoke(): Promise<void>;
  /** {@link end} for a session that another worker may claim at any moment: the agent is killed at once. */
  abandon(): Promise<void>;
  /** Resolves when it has ended by itself, through {@link end} or {@link abandon}. Never rejects. */
  readonly done: Promise<void>;
}

/** The options of {@link runSession}. */
export interface RunOptions {
  readonly agents: Agents;
  readonly watched: WatchedSessions;
  readonly reservations: Reservations;
  readonly checkpointMetrics: CheckpointMetrics;
  readonly checkpointClock: MonotonicClock;
  /** The agent has become idle: its slot may be given to another. */
  onIdle(): void;
}

/** Runs a claimed session: its agent and its turns, until it is idle for long, over, lost or crashed. */
export function runSession(context: Context, run: ClaimedRun, options: RunOptions): ActiveRun {
  const leasedRun = new LeasedRun(context, run, () => options.onIdle());
  const done = new SessionRun(leasedRun, options).conduct();
  return {
    ...run,
    idleSince: () => leasedRun.idleSince,
    end() {
      leasedRun.end();
      return done;
    },
    handOver() {
      leasedRun.isHandover = true;
      leasedRun.end();
      return done;
    },
    revoke() {
      leasedRun.revoke();
      leasedRun.end();
      return done;
    },
    abandon() {
      leasedRun.abandon();
      return done;
    },
    done,
  };
}

/** Time in which an agent that is stopped for a limit may still report: the session stops within ten seconds. */
const interruptGraceMs = 2_000;

/** Time for the last checkpoint of an agent that is stopped for a limit. */
const haltSaveMs = 4_000;

/** The same for any other agent that has ended. */
const lastSaveMs = 20_000;

/** The parts of a run that are built from its launch plan. */
interface Parts {
  readonly profile: AgentProfile;
  readonly sandbox: Sandbox;
  readonly mask: Mask;
  /** See {@link createSafeLength}. */
  readonly safeLength: (text: string) => number;
  readonly recorder: Recorder;
  readonly drafts: DraftSender;
  readonly reports: Reports;
  readonly meter: Meter;
  readonly options: OptionControl;
  readonly changes: ChangesRecorder;
  readonly checkpoints: CheckpointRecorder;
  /** Null: the run has no stored key. */
  readonly credential: RunCredential | null;
}

class SessionRun {
  readonly #leasedRun: LeasedRun;
  readonly #options: RunOptions;
  readonly #commands: Commands;
  #parts: Parts | null = null;
  #mask: Mask = (text) => text;
  #halting: Promise<void> = Promise.resolve();
  /** True if a refused usage report of this run's agent has been logged. */
  #hasRefusedUsage = false;

  /** True if a checkpoint has the state of the workspace, and no agent runs. */
  #isStored: boolean;

  constructor(leasedRun: LeasedRun, options: RunOptions) {
    this.#leasedRun = leasedRun;
    this.#isStored = leasedRun.run.isRestoreRequested && leasedRun.run.checkpointId !== null;
    this.#options = options;
    this.#commands = createCommands(leasedRun, () => this.#parts);
  }

  /** Never rejects. */
  async conduct(): Promise<void> {
    const { context, run } = this.#leasedRun;
    const unsubscribe = context.notifier.subscribe(`command:${run.sessionId}`, () => this.#commands.poll());
    // Run in reverse order, after the agent has stopped.
    const cleanups: (() => unknown)[] = [];
    try {
      if (run.command !== null) {
        // The worker ended in the middle of a stop.
        await endTurn(context, run, 'cancelled', [], {});
        return;
      }
      const launchPlan = await planLaunch(context, run);
      const { profile, organizationId, build } = launchPlan;
      const signal = this.#leasedRun.ended;
      const driver = this.#options.agents.driverOf(profile);
      const begun = await beginWithBuild(context, run, { organizationId, profile, driver, build, signal });
      const start = await prepareWorkspace(context, begun, {
        organizationId,
        driver,
        mask: createMask(launchPlan.secretValues),
        signal,
      });
      this.#leasedRun.start = start;
      this.#isStored = start.state === 'restored';
      const isNew = start.state === 'deleted' || start.state === 'lost';
      const sandbox = await this.#options.agents.openSandbox({ profile, sessionId: run.sessionId, isNew });
      cleanups.push(() => sandbox.close());
      cleanups.push(() => this.#closeCheckpoints(sandbox));
      cleanups.push(() => clearSecretFiles(sandbox.files));
      const prepared = await prepareRepositories(context, run, { organizationId, sandbox, signal });
      if (prepared) {
        this.#leasedRun.pushesSettled = prepared.pushesSettled;
        cleanups.push(() => prepared.close());
      }
      const opened = { driver, sandbox, prepared, plan: launchPlan, signal };
      const environment = await openSessionEnvironment(context, run, opened);
      const parts = await this.#prepare(environment.plan, sandbox);
      await this.#work(environment, parts, cleanups);
    } catch (error) {
      const retryDelaysMs = this.#parts?.profile.retryDelaysMs;
      await endFailedRun(this.#leasedRun, error, { mask: this.#mask, retryDelaysMs });
    } finally {
      unsubscribe();
      await this.#tidy('An agent could not be stopped.', () => this.#leasedRun.agent?.stop());
      await this.#commands.settled();
      await this.#halting;
      this.#parts?.drafts.close();
      await this.#parts?.options.settled();
      await this.#parts?.changes.settled();
      await this.#tidy('What the last calls of a model used could not be written.', () => this.#parts?.meter.close());
      for (const cleanUp of cleanups.reverse()) await this.#tidy('A run could not be cleaned up.', cleanUp);
      const isHandedOver = this.#leasedRun.isHandover && this.#isStored;
      const release = () => releaseLease(context, run, isHandedOver);
      await this.#tidy('A lease could not be given back; it ends by itself.', release);
    }
  }

  // The secrets of the run are no longer in the workspace.
  async #closeCheckpoints({ files }: Sandbox): Promise<void> {
    const { context, run, isLost, agent } = this.#leasedRun;
    const checkpoints = this.#parts?.checkpoints;
    if (agent !== null) this.#isStored = !isLost && (await checkpoints?.settle(lastSaveMs)) === true;
    await checkpoints?.close();
    if (agent !== null && this.#isStored) await recordSaved(context, run, files);
  }

  async #tidy(failed: string, act: () => unknown): Promise<void> {
    const { context, run } = this.#leasedRun;
    try {
      await act();
    } catch (error) {
      context.log.warn({ err: error, sessionId: run.sessionId }, failed);
    }
  }

  async #prepare(plan: LaunchPlan, sandbox: Sandbox): Promise<Parts> {
    const { context, run } = this.#leasedRun;
    const { profile, organizationId, totpKeys, route } = plan;
    const model = plan.model === null ? null : { id: plan.model, prefix: route?.modelPrefix ?? '' };
    const findSpans = createSpanFinder(plan.secretValues);
    this.#mask = createMask(plan.secretValues, findSpans);
    const mask = this.#mask;
    const safeLength = createSafeLength(plan.secretValues, findSpans);
    const { mcp, askTool } = profile;
    const reports = await createReports(context, run, { organizationId, totpKeys, sandbox }, { mask, mcp, askTool });
    // Built for the first draft that somebody watches, or the first output that is stored as a file.
    let mayBeInside: HeadCheck | null = null;
    const createStream = () => {
      mayBeInside ??= createHeadCheck(plan.secretValues);
      return createStreamMask({ findSpans, safeLength, mayBeInside });
    };
    const { sessionId } = run;
    const drafts = createDraftSender({
      broadcaster: context.broadcaster,
      watched: this.#options.watched,
      sessionId,
      generation: run.generation,
      mask,
      createStream,
    });
    const isStopping = () => this.#leasedRun.isOver || this.#commands.isStopped();
    const outputs = createOutputRecorder(context, { organizationId, sessionId, mask, createStream, isStopping });
    const poll = () => this.#commands.poll();
    const onReached = (reached: LimitReached) => {
      // The meter and the key's budget may both report a limit.
      if (this.#leasedRun.isOver) return;
      this.#halting = this.#halt(reached).catch((error: unknown) => this.#leasedRun.lose(error));
    };
    const onLost = (error: FencedError) => this.#leasedRun.lose(error);
    const { userId, storedKey } = plan;
    const credential =
      storedKey === null || route === null
        ? null
        : createRunCredential(
            context,
            { organizationId, userId, route, first: storedKey, reservations: this.#options.reservations },
            onReached,
          );
    const findBudget = async () => credential?.findLimit() ?? null;
    const isWaiting = () => this.#leasedRun.agent?.isWaiting() ?? false;
    this.#parts = {
      profile,
      sandbox,
      mask,
      safeLength,
      drafts,
      recorder: createRecorder(context, run, { organizationId, mask, drafts, outputs, onQuestion: poll }),
      reports,
      meter: createMeter(context, run, { model: plan.model, isWaiting, findBudget, onReached, onLost }),
      credential,
      checkpoints: await openCheckpointRecorder(context, run, {
        ...{ organizationId, sandbox, mask, onLost },
        metrics: this.#options.checkpointMetrics,
        clock: this.#options.checkpointClock,
      }),
      changes: createChangesRecorder(context, run, {
        organizationId,
        sandbox,
        secretValues: plan.secretValues,
        signal: this.#leasedRun.ended,
      }),
      options: createOptionControl(this.#leasedRun, { organizationId, profile, model, mask }),
    };
    return this.#parts;
  }

  async #work(
    { plan, variables, prepare }: SessionEnvironment,
    parts: Parts,
    cleanups: (() => unknown)[],
  ): Promise<void> {
    const leasedRun = this.#leasedRun;
    const { context, run } = leasedRun;
    const { profile, sandbox, safeLength, drafts, reports, meter, options, credential } = parts;
    const reached = await meter.check();
    if (reached !== null) return suspendForLimit(context, run, reached);
    if (plan.build !== null) return void (await prepare(parts));
    const served = await reports.serve();
    if (served) cleanups.push(() => served.close());
    if (leasedRun.isOver) return;
    cleanups.push(...(await prepare(parts)));
    if (leasedRun.isOver) return;
    const started = { agent: profile.id };
    context.metrics.agentStarts.inc(started);
    const observeStart = context.metrics.agentStartDuration.startTimer(started);
    const agent = await this.#options.agents.launch({
      profile,
      sandbox,
      env: plan.env,
      runtimeFiles: gitVariables,
      cwd: posix.join(sandbox.paths.workspace, directoryOf(plan)),
      serviceEnv: variables,
      onUpdate: (update) => this.#take(parts, update),
      safeLength: (text, draftId) => Math.max(safeLength(text), draftId === null ? 0 : drafts.sentLength(draftId)),
      drafts: { newId, grow: drafts.grow },
      maskOf: createMask,
      startSpan: leasedRun.trace.start,
      ...(credential && { credential: credential.ask, onOutcome: createOutcomeRecorder(context) }),
      onOffer: (offer) => options.offered(offer),
      revoked: leasedRun.revoked,
    });
    leasedRun.agent = agent;
    if (leasedRun.isOver) return;
    const opened = await agent.open(leasedRun.start.agentSessionId, served ? [served.server] : []);
    observeStart();
    // An id that contains a secret is not stored: the agent starts without its memory next time.
    const hasSecret = parts.mask(opened.agentSessionId) !== opened.agentSessionId;
    await recordAgentSession(context, run, hasSecret ? null : opened.agentSessionId);
    await meter.opened(opened.how);
    const { how } = opened;
    await options.opened(agent, how);
    await runTurns(leasedRun, { ...parts, plan, commands: this.#commands, agent, how });
  }

  async #take({ recorder, reports, meter, checkpoints }: Parts, rawUpdate: AgentUpdate): Promise<void> {
    // The usage of a call that was cut off still counts, even if the session is lost. The agent's own reports need a
    // run to be recorded in.
    if (this.#leasedRun.isLost) {
      if (rawUpdate.type === 'usage' && rawUpdate.source === 'gateway') meter.usage(this.#checkUsage(rawUpdate));
      return;
    }
    try {
      const update = rawUpdate.type === 'usage' ? this.#checkUsage(rawUpdate) : rawUpdate;
      if (update.type === 'usage') meter.usage(update);
      await recorder.record(update);
      if (update.type === 'toolCall') {
        this.#leasedRun.trace.toolCall(update);
        checkpoints.toolCall(update.toolCallId, update.status === 'completed' || update.status === 'failed');
      }
      meter.waitingChanged();
      await reports.observe(update);
    } catch (error) {
      this.#leasedRun.lose(error);
    }
  }

  #checkUsage(rawUsage: UsageUpdate): UsageUpdate {
    const { usage, refused } = validateUsage(rawUsage);
    if (refused.length > 0 && !this.#hasRefusedUsage) {
      this.#hasRefusedUsage = true;
      const { context, run } = this.#leasedRun;
      // Logged once for a run, and without the figures: an agent may report them often, with any content.
      const fields = { sessionId: run.sessionId, source: rawUsage.source, refused };
      context.log.warn(fields, 'An agent says that it used what nothing can have used; that is left out.');
    }
    return usage;
  }

  // Handles a limit that was reached in the middle of a turn. The agent's output of the next moment is kept; the turn
  // stays open.
  async #halt(reached: LimitReached): Promise<void> {
    const leasedRun = this.#leasedRun;
    if (leasedRun.isOver) return;
    leasedRun.isOver = true;
    const timeoutController = new AbortController();
    const timeout = wait(interruptGraceMs, undefined, { signal: timeoutController.signal }).catch(() => undefined);
    const interrupted = leasedRun.agent?.interrupt();
    // The agent is interrupted first, so that it takes the end of its calls for the end of its turn.
    leasedRun.revoke();
    await Promise.race([interrupted, timeout]);
    timeoutController.abort();
    await this.#parts?.meter.turnEnded();
    await this.#parts?.checkpoints.settle(haltSaveMs);
    await suspendForLimit(leasedRun.context, leasedRun.run, reached);
    leasedRun.isLost = true;
    leasedRun.end();
  }
}
