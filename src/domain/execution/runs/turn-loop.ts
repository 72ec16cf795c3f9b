import type { AgentProcess, AgentProfile, PromptBlock } from '../../../agents/agent.ts';
import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import type { Meter } from '../metering/meter.ts';
import { suspendForLimit } from '../metering/suspend-for-limit.ts';
import { collectOutputs } from '../prompts/collect-outputs.ts';
import type { Reports } from '../reports/reports.ts';
import type { Commands } from './commands.ts';
import { readGitIdentity, writeGitConfig } from './git-identity.ts';
import type { LaunchPlan } from './launch.ts';
import type { LeasedRun } from './leased-run.ts';
import type { Mask } from './masking.ts';
import { outcomeOf } from './outcome.ts';
import { promptBlocks } from './prompt-blocks.ts';
import { endCancelledTurn } from './questions.ts';
import { isOverLimit } from './queue-reasons.ts';
import type { Recorder } from './recorder.ts';
import { closeInterrupted, endTurn, isAfterSuspension, readInbox, readTurnMessages, startTurn } from './turns.ts';

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
  readonly agent: AgentProcess;
  /** The way in which the agent's own session was opened. */
  readonly how: 'new' | 'resume' | 'load';
}

/** Runs the turns of a session, until the agent was idle for long or the run is over. Rejects with AgentCrash. */
export async function runTurns(leasedRun: LeasedRun, parts: TurnParts): Promise<void> {
  const { context, run } = leasedRun;
  const { plan, sandbox, reports, meter, profile } = parts;
  let isInterrupted = run.isTurnOpen && !(await endCancelledTurn(context, run));
  let isFirst = parts.how === 'new';
  let isForgetful = isFirst && run.agentSessionId !== null;
  // A suspension ends the run: only the first turn of a run can follow one.
  let isAfter = await isAfterSuspension(context, run.sessionId, isInterrupted);
  let isWarm = false;
  while (!leasedRun.isOver) {
    leasedRun.listen();
    const inbox = isInterrupted ? [] : await readInbox(context, run.sessionId);
    if (!isInterrupted && inbox.length === 0) {
      if (!(await leasedRun.idle(profile.warmTtlMs))) return;
      continue;
    }
    // A claim has checked the limits; a message to a warm agent comes without a claim.
    if (isWarm && (await isOverLimit(context, run.sessionId))) return;
    const reached = await meter.check();
    if (reached !== null) return suspendForLimit(context, run, reached);
    if (isInterrupted) await closeInterrupted(context, run);
    const messages = isInterrupted ? await readTurnMessages(context, run.sessionId) : inbox;
    const flags = { isInterrupted, isFirst, isForgetful, isAfterSuspension: isAfter };
    const blocks = await promptBlocks(leasedRun, { plan, sandbox, messages, tools: reports.tools, ...flags });
    await setGitIdentity(leasedRun, sandbox, messages.at(-1)?.seq ?? null);
    if (leasedRun.isOver) return;
    await startTurn(context, run, { messages: inbox, isAfterSuspension: isAfter });
    const stopReason = await runTurn(leasedRun, parts, blocks);
    if (stopReason === null) return;
    isInterrupted = false;
    isFirst = false;
    isForgetful = false;
    isAfter = false;
    isWarm = true;
  }
}

// The author of a turn's commits is the author of its message. Without an identity the agent can still do everything
// else.
async function setGitIdentity({ context, run }: LeasedRun, sandbox: Sandbox, seq: number | null): Promise<void> {
  const { sessionId } = run;
  const identity = await readGitIdentity(context, sessionId, seq);
  await writeGitConfig(sandbox, identity).catch((err: unknown) => {
    context.log.warn({ err, sessionId }, 'An agent has no identity for Git: its configuration could not be written.');
  });
}

// Runs one turn, until its end is written. Returns its stop reason. Null: the run was over before.
async function runTurn(leasedRun: LeasedRun, parts: TurnParts, blocks: readonly PromptBlock[]): Promise<string | null> {
  const { context, run } = leasedRun;
  const { plan, sandbox, profile, reports, meter, commands, mask } = parts;
  reports.resetTurn();
  meter.turnStarted();
  let stopReason: string;
  try {
    stopReason = await prompt(parts, blocks, false);
    if (stopReason === 'end_turn' && !leasedRun.isOver) await settle(leasedRun, parts);
  } finally {
    await meter.turnEnded();
  }
  await commands.settled();
  if (leasedRun.isOver) return null;
  const { organizationId } = plan;
  await collectOutputs(context, run, { organizationId, workspace: sandbox.files, mask });
  const { entries, change } = outcomeOf(stopReason, reports.outcome(), profile);
  await endTurn(context, run, stopReason, entries, change);
  return stopReason;
}

async function prompt(parts: TurnParts, blocks: readonly PromptBlock[], isHidden: boolean): Promise<string> {
  const { agent, recorder, commands } = parts;
  recorder.begin(isHidden);
  const ended = agent.prompt(blocks);
  commands.setPrompting(true);
  // A message may have arrived just before.
  commands.poll();
  try {
    return (await ended).stopReason;
  } finally {
    commands.setPrompting(false);
    recorder.closeQuestion();
  }
}

// Prompts the agent for the missing structured output; users see none of that.
async function settle(leasedRun: LeasedRun, parts: TurnParts): Promise<void> {
  const { reports, recorder } = parts;
  if (reports.outcome().isWaiting) return;
  let nextPrompt = await reports.settle(recorder.lastMessage());
  while (nextPrompt !== null && !leasedRun.isOver) {
    const stopReason = await prompt(parts, [{ type: 'text', text: nextPrompt, isPreface: true }], true);
    nextPrompt = stopReason === 'end_turn' ? await reports.settle(recorder.lastMessage()) : null;
  }
}
