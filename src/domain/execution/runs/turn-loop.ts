import type { AgentProcess, AgentProfile, PromptBlock, TurnEnd } from '../../../agents/agent.ts';
import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import { within } from '../../../common/within.ts';
import type { ChangesRecorder } from '../changes/changes-recorder.ts';
import type { CheckpointRecorder } from '../checkpoints/checkpoint-recorder.ts';
import type { Meter } from '../metering/meter.ts';
import { suspendForLimit } from '../metering/suspend-for-limit.ts';
import { collectOutputs } from '../prompts/collect-outputs.ts';
import type { Reports } from '../reports/reports.ts';
import { readAgentNotes } from '../restores/agent-notes.ts';
import type { Commands } from './commands.ts';
import { readGitIdentity, writeGitConfig } from './git-identity.ts';
import type { LaunchPlan } from './launch.ts';
import type { LeasedRun } from './leased-run.ts';
import type { Mask } from './masking.ts';
import type { OptionControl } from './option-control.ts';
import { outcomeOf } from './outcome.ts';
import { promptBlocks } from './prompt-blocks.ts';
import { endCancelledTurn } from './questions.ts';
import { isOverLimit } from './queue-reasons.ts';
import type { Recorder } from './recorder.ts';
import { readStateNote } from './state-note.ts';
import {
  closeInterrupted,
  endTurn,
  readInbox,
  readStopNote,
  readTurnMessages,
  startTurn,
  type TurnResult,
} from './turns.ts';

/** The parts of a run that its turns use. */
export interface TurnParts {
  readonly plan: LaunchPlan;
  readonly sandbox: Sandbox;
  readonly profile: AgentProfile;
  readonly mask: Mask;
  readonly recorder: Recorder;
  readonly reports: Reports;
  readonly meter: Meter;
  readonly commands: Commands;
  readonly changes: ChangesRecorder;
  readonly checkpoints: CheckpointRecorder;
  readonly options: OptionControl;
  readonly agent: AgentProcess;
  /** The way in which the agent's own session was opened. */
  readonly how: 'new' | 'resume' | 'load';
}

/** The time that the end of a turn waits for its pushes to be written to the log. */
const pushWaitMs = 5_000;

/** Runs the turns of a session, until the agent was idle for long or the run is over. Rejects with AgentCrash. */
export async function runTurns(leasedRun: LeasedRun, parts: TurnParts): Promise<void> {
  const { context, run } = leasedRun;
  const { plan, sandbox, reports, meter, profile } = parts;
  let isInterrupted = run.isTurnOpen && !(await endCancelledTurn(context, run));
  let isFirst = parts.how === 'new';
  let stateNote = await readStateNote(context, run.sessionId, { isInterrupted, plan });
  let isForgetful = isFirst && (leasedRun.start.agentSessionId !== null || stateNote?.hasHistory === true);
  let stopNote = await readStopNote(context, run.sessionId, isInterrupted);
  let notes = await readAgentNotes(context, run.sessionId);
  let isWarm = false;
  // The next turn waits for it, and an agent that has nothing to do does not.
  let saving: Promise<void> | null = null;
  while (!leasedRun.isOver) {
    leasedRun.listen();
    const inbox = isInterrupted ? [] : await readInbox(context, run.sessionId);
    // Read after the messages: an option that was chosen before a message applies to it.
    await parts.options.applyPending();
    if (!isInterrupted && inbox.length === 0) {
      if (!(await leasedRun.idle(profile.warmTtlMs))) return;
      continue;
    }
    if (!isInterrupted && saving !== null) {
      await saving;
      saving = null;
      continue;
    }
    if (isWarm && stopNote) stopNote = await readStopNote(context, run.sessionId, isInterrupted);
    // A claim has checked the limits; a message to a warm agent comes without a claim.
    if (isWarm && (await isOverLimit(context, run.sessionId))) return;
    const reached = await meter.check();
    if (reached !== null) return suspendForLimit(context, run, reached);
    if (isInterrupted) await closeInterrupted(context, run);
    const messages = isInterrupted ? await readTurnMessages(context, run.sessionId) : inbox;
    const text = parts.checkpoints.takeText();
    if (text !== null) notes.push(text);
    const flags = { isInterrupted, isFirst, isForgetful, stopNote, stateNote, notes };
    const blocks = await promptBlocks(leasedRun, { plan, sandbox, messages, tools: reports.tools, ...flags });
    await setGitIdentity(leasedRun, parts, messages.at(-1)?.seq ?? null);
    if (leasedRun.isOver) return;
    const isAfter = { isAfterStop: stopNote !== null, hasStateNote: stateNote !== null };
    const turn = await startTurn(context, run, { messages: inbox, ...isAfter });
    if (turn === null) continue;
    const result = await runTurn(leasedRun, parts, { turn, blocks });
    if (result === null) return;
    saving = parts.checkpoints.turnEnded(turn);
    isInterrupted = false;
    // An agent may have dropped a turn that was stopped, with the instructions in it.
    isFirst = isFirst && result.isStopped;
    isForgetful = false;
    notes = [];
    if (!result.isStopped) stateNote = null;
    stopNote = result.isStopped ? 'repeat' : null;
    isWarm = true;
  }
}

// The author of a turn's commits is the author of its message. Without an identity the agent can still do everything
// else.
async function setGitIdentity(
  { context, run }: LeasedRun,
  { sandbox, profile }: TurnParts,
  seq: number | null,
): Promise<void> {
  const { sessionId } = run;
  const identity = await readGitIdentity(context, sessionId, seq);
  await writeGitConfig(sandbox, identity, profile.gitIdentity).catch((err: unknown) => {
    context.log.warn({ err, sessionId }, 'An agent has no identity for Git: its configuration could not be written.');
  });
}

interface Turn {
  readonly turn: number;
  readonly blocks: readonly PromptBlock[];
}

// Runs one turn, until its end is written. Null: the run is over.
async function runTurn(leasedRun: LeasedRun, parts: TurnParts, { turn, blocks }: Turn): Promise<TurnResult | null> {
  const { context, run } = leasedRun;
  const { plan, sandbox, profile, reports, meter, commands, mask } = parts;
  reports.resetTurn();
  meter.turnStarted();
  commands.beginTurn(turn);
  parts.checkpoints.turnStarted(turn);
  let end: TurnEnd | null = null;
  leasedRun.trace.begin({ sessionId: run.sessionId, turn, agent: profile.id });
  const observeTurn = context.metrics.turnDuration.startTimer({ agent: profile.id });
  try {
    end = await prompt(parts, blocks, false);
    if (end.stopReason === 'end_turn' && !leasedRun.isOver) end = await settle(leasedRun, parts, end);
  } finally {
    leasedRun.trace.end(end?.stopReason ?? null);
    await meter.turnEnded();
  }
  observeTurn({ 'stop_reason': end.stopReason });
  await commands.settled();
  if (leasedRun.isOver) return null;
  const { organizationId } = plan;
  const collect = () => collectOutputs(context, run, { organizationId, workspace: sandbox.files, mask });
  // A user who stops a turn does not wait for its files.
  const isStopped = end.isKilled === true || commands.isStopped();
  if (!isStopped) {
    // In the log, a push comes before the end of its turn, unless the forge does not say what it was.
    await within(leasedRun.pushesSettled(), pushWaitMs);
    await collect();
  }
  const { entries, change } = outcomeOf(end.stopReason, reports.outcome(), profile);
  const result = await endTurn(context, run, end.stopReason, entries, change);
  if (isStopped) await collect();
  await parts.changes.turnEnded(turn);
  // The next message starts the agent again.
  return end.isKilled ? null : result;
}

async function prompt(parts: TurnParts, blocks: readonly PromptBlock[], isHidden: boolean): Promise<TurnEnd> {
  const { agent, recorder, commands } = parts;
  recorder.begin(isHidden);
  const ended = agent.prompt(blocks);
  commands.setPrompting(true);
  // A message may have arrived just before.
  commands.poll();
  try {
    return await ended;
  } finally {
    commands.setPrompting(false);
    recorder.closeQuestion();
  }
}

// Prompts the agent for the missing structured output; users see none of that. Returns the end of the turn.
async function settle(leasedRun: LeasedRun, parts: TurnParts, end: TurnEnd): Promise<TurnEnd> {
  const { reports, recorder, commands } = parts;
  if (reports.outcome().isWaiting) return end;
  let nextPrompt = await reports.settle(recorder.lastMessage());
  while (nextPrompt !== null && !leasedRun.isOver && !commands.isStopped()) {
    const hidden = await prompt(parts, [{ type: 'text', text: nextPrompt, isPreface: true }], true);
    if (hidden.isKilled) return hidden;
    nextPrompt = hidden.stopReason === 'end_turn' ? await reports.settle(recorder.lastMessage()) : null;
  }
  return end;
}
