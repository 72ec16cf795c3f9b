import type { AgentProfile } from '../../../agents/agent.ts';
import { FencedError } from '../../sessions/log.ts';
import type { ChangesRecorder } from '../changes/changes-recorder.ts';
import type { Meter } from '../metering/meter.ts';
import type { LeasedRun } from './leased-run.ts';
import { readAnswer, readWaitingMessages, recordAnswer, takeBackAnswer } from './questions.ts';
import type { Recorder } from './recorder.ts';
import { pollRun } from './turns.ts';

/** The parts of a run that commands act on. */
export interface CommandParts {
  readonly profile: AgentProfile;
  readonly recorder: Recorder;
  readonly meter: Meter;
  readonly changes: ChangesRecorder;
}

/** Handles commands while the agent works. */
export interface Commands {
  /**
   * Polls after a notification: the session may have been ended or claimed, or the user may have written. One poll at a
   * time.
   */
  poll(): void;
  /** Records the number of the turn that begins. */
  beginTurn(turn: number): void;
  /** True if a user has stopped the current turn. */
  isStopped(): boolean;
  /** Records if a prompt is in flight. */
  setPrompting(isPrompting: boolean): void;
  /** Resolves when all commands so far have been handled. */
  settled(): Promise<void>;
}

/** Creates the commands of a run; until `parts` returns a value only the loss of the session is detected. */
export function createCommands(leasedRun: LeasedRun, parts: () => CommandParts | null): Commands {
  const { context, run } = leasedRun;
  let done: Promise<void> = Promise.resolve();
  let isPrompting = false;
  let isSteering = false;
  let isCancelled = false;
  let turn = 0;
  let isStopped = false;
  let refreshedAt = Number.NEGATIVE_INFINITY;

  // Delivers the user's answer to a question that is open inside the turn.
  const answer = async ({ recorder, meter }: CommandParts) => {
    const question = recorder.openQuestion();
    if (question === null) return;
    const userAnswer = await readAnswer(context, run.sessionId, question.entryId);
    if (userAnswer === null) return;
    await recordAnswer(context, run, userAnswer);
    // The agent may have cancelled it meanwhile, and opened another.
    if (recorder.openQuestion() === question) recorder.closeQuestion();
    const isTaken = leasedRun.agent?.answer(question.id, { text: userAnswer.body, optionId: userAnswer.optionId });
    if (isTaken !== true) await takeBackAnswer(context, run, userAnswer);
    meter.waitingChanged();
  };

  // A message ends the turn, and belongs to the next one: always if it says so or has cancelled a question, else if the
  // profile has this setting. If the agent does not react, the message waits, unless it says that it interrupts the turn.
  const steer = async ({ profile, recorder }: CommandParts) => {
    if (!isPrompting || isSteering) return;
    const messages = await readWaitingMessages(context, run.sessionId);
    const isSteered = profile.steer === 'cancel' && recorder.openQuestion() === null && messages.areSteering;
    if (!isPrompting || !(messages.areInterrupting || messages.areCancelling || isSteered)) return;
    // A message that interrupts the turn may follow one that the agent ignores.
    isSteering = messages.areInterrupting;
    recorder.closeQuestion();
    if (messages.areInterrupting) void leasedRun.agent?.stopTurn();
    else if (!isCancelled) void leasedRun.agent?.cancel();
    isCancelled = true;
  };

  // Between two prompts of a turn, the next one is not sent.
  const stop = ({ recorder }: CommandParts) => {
    isStopped = true;
    if (!isPrompting) return;
    recorder.closeQuestion();
    void leasedRun.agent?.stopTurn();
  };

  // A request from before this turn is answered by its end.
  const refresh = ({ changes }: CommandParts, requestedAt: Date | null) => {
    const isNew = requestedAt !== null && requestedAt.getTime() > refreshedAt;
    if (isNew) refreshedAt = requestedAt.getTime();
    if (isNew && isPrompting) changes.refresh(turn);
  };

  const handle = async () => {
    if (leasedRun.isLost) return;
    // Checked even while it ends by itself, because its agent may need long to stop.
    const { isLeased, turnToStop, changesRequestedAt } = await pollRun(context, run);
    if (!isLeased) return leasedRun.lose(new FencedError(run.sessionId));
    if (leasedRun.isOver) return;
    const currentParts = parts();
    if (currentParts === null) return;
    if (turnToStop !== null && turnToStop === turn) return stop(currentParts);
    refresh(currentParts, changesRequestedAt);
    await answer(currentParts);
    await steer(currentParts);
  };

  return {
    poll() {
      leasedRun.wake();
      done = done.then(handle).catch((error: unknown) => leasedRun.lose(error));
    },
    beginTurn(number) {
      turn = number;
      isStopped = false;
    },
    isStopped: () => isStopped,
    setPrompting(prompting) {
      isPrompting = prompting;
      isSteering = false;
      isCancelled = false;
    },
    settled: () => done,
  };
}
