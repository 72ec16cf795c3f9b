import type { PromptBlock } from '../../../agents/agent.ts';
import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import { assembleTurn } from '../prompts/assemble-turn.ts';
import { lastTurnDigest, transcriptDigest } from '../prompts/transcript-digest.ts';
import type { WorkspaceStart } from '../restores/restore-run.ts';
import type { LaunchPlan } from './launch.ts';
import type { LeasedRun } from './leased-run.ts';
import type { StateNote } from './state-note.ts';
import type { InboxMessage, StopNote } from './turns.ts';

/** The input of a run's turn. */
export interface PromptInput {
  readonly plan: LaunchPlan;
  readonly messages: readonly InboxMessage[];
  /** The turn was sent before, and its end was never written. */
  readonly isInterrupted: boolean;
  /** The agent's own session is new, or only its first turn has run, and was stopped. */
  readonly isFirst: boolean;
  /** The agent has no memory of the session's earlier turns, because it could not be restored. */
  readonly isForgetful: boolean;
  /** A user stopped the turn before this one, or suspended the session in it. */
  readonly stopNote: StopNote;
  /** News for the agent about its workspace since its last turn. */
  readonly notes: readonly string[];
  /** The session was rewound, or began with the files of another one; null: neither. */
  readonly stateNote: StateNote | null;
  readonly sandbox: Sandbox;
  readonly tools: readonly string[];
}

const interruptedText =
  'The agent process was interrupted. What the user had said for this turn follows. Check the workspace, where some of it may be done already, and continue.';

const stoppedText =
  'The user stopped your previous turn before its end. That turn is over: do not continue it unless the user asks you to. The workspace is as the turn left it.';

/** Builds the blocks of a turn: the instructions, then the user's text. */
export async function promptBlocks(leasedRun: LeasedRun, input: PromptInput): Promise<PromptBlock[]> {
  const { plan, messages, isFirst, sandbox, tools } = input;
  const { sessionId } = leasedRun.run;
  const turn = { sessionId, plan, messages, isFirst, sandbox, tools };
  const blocks = messages.length > 0 ? await assembleTurn(leasedRun.context, turn) : [];
  const before = input.isInterrupted ? null : (messages[0]?.seq ?? null);
  const digest = input.isForgetful ? await digestOf(leasedRun, before, input.stateNote) : '';
  const stopped = input.stopNote ? stoppedText : '';
  const texts = [
    input.stateNote?.text ?? '',
    digest || (await stoppedTurnOf(leasedRun, input)),
    stopped,
    ...input.notes,
    input.isInterrupted ? interruptedText : '',
  ];
  const prefaces = texts.filter((text) => text !== '').map(preface);
  const own = blocks.findIndex((block) => block.type === 'link' || block.isPreface !== true);
  return [...blocks.slice(0, Math.max(own, 0)), ...prefaces, ...blocks.slice(Math.max(own, 0))];
}

// The notes tell of a restore.
const workspaceTexts = {
  kept: ' Your workspace is as you left it.',
  restored: '',
  deleted:
    ' Your workspace is empty: it was deleted, because nobody had used this session for long or an administrator asked for it.',
  lost: '',
} as const satisfies Record<WorkspaceStart['state'], string>;

async function digestOf(
  { context, run, start }: LeasedRun,
  beforeSeq: number | null,
  stateNote: StateNote | null,
): Promise<string> {
  const digest = await transcriptDigest(context, run.sessionId, beforeSeq);
  if (digest === '') return '';
  const workspaceText = stateNote === null ? workspaceTexts[start.state] : '';
  return `You have worked on this before, in a session of yours that could not be taken up again.${workspaceText} What happened so far:\n\n${digest}`;
}

// Agents drop parts of a turn that is stopped: Gemini CLI all of it, Codex and a killed agent the text of an open block.
async function stoppedTurnOf({ context, run }: LeasedRun, input: PromptInput): Promise<string> {
  if (input.stopNote !== 'repeat') return '';
  const seqs = input.messages.map(({ seq }) => seq);
  const digest = await lastTurnDigest(context, run.sessionId, seqs);
  return digest === '' ? '' : `This happened in your previous turn, in case you no longer know it:\n\n${digest}`;
}

function preface(text: string): PromptBlock {
  return { type: 'text', text, isPreface: true };
}
