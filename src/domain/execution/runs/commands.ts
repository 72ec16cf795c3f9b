import type { AgentProfile } from '../../../agents/agent.ts';
import { FencedError } from '../../sessions/log.ts';
import type { Meter } from '../metering/meter.ts';
import type { LeasedRun } from './leased-run.ts';
import { readAnswer, readWaitingMessages, recordAnswer, takeBackAnswer } from './questions.ts';
import type { Recorder } from './recorder.ts';
import { isStillLeased } from './turns.ts';

/** What a ring is obeyed with. */
export interface CommandParts {
  readonly profile: AgentProfile;
  readonly recorder: Recorder;
  readonly meter: Meter;
}

/** Obeys what comes while the agent works. */
export interface Commands {
  /** Something may have happened: the session was ended or taken, or the user spoke. Looks, one time after another. */
  poll(): void;
  /** From now on a prompt is in flight, or none. */
  setPrompting(isPrompting: boolean): void;
  /** Resolves when all that was rung for is obeyed. */
  settled(): Promise<void>;
}

/** Commands for a run; until `parts` gives something only a loss is noticed. */
export function createCommands(leasedRun: LeasedRun, parts: () => CommandParts | null): Commands {
  const { context, run } = leasedRun;
  let done: Promise<void> = Promise.resolve();
  let isPrompting = false;
  let isSteering = false;

  // The user's answer to a question that is open inside the turn.
  const answer = async ({ recorder, meter }: CommandParts) => {
    const question = recorder.openQuestion();
    if (question === null) return;
    const userAnswer = await readAnswer(context, run.sessionId, question.entryId);
    if (userAnswer === null) return;
    await recordAnswer(context, run, userAnswer);
    // The agent may have given it up meanwhile, and asked another.
    if (recorder.openQuestion() === question) recorder.closeQuestion();
    const isTaken = leasedRun.agent?.answer(question.id, { text: userAnswer.body, optionId: userAnswer.optionId });
    if (isTaken !== true) await takeBackAnswer(context, run, userAnswer);
    meter.waitingChanged();
  };

  // A message ends the turn, and is the next one's: always when it has cancelled a question, else where the profile says so. It
  // waits when the agent does not obey.
  const steer = async ({ profile, recorder }: CommandParts) => {
    if (!isPrompting || isSteering) return;
    const messages = await readWaitingMessages(context, run.sessionId);
    const isSteered = profile.steer === 'cancel' && recorder.openQuestion() === null && messages.areThere;
    if (!isPrompting || !(messages.areInterrupting || isSteered)) return;
    isSteering = true;
    recorder.closeQuestion();
    void leasedRun.agent?.cancel();
  };

  const handle = async () => {
    if (leasedRun.isLost) return;
    // Also while it ends by itself: its agent may take long to stop.
    if (!(await isStillLeased(context, run))) return leasedRun.lose(new FencedError(run.sessionId));
    if (leasedRun.isOver) return;
    const currentParts = parts();
    if (currentParts === null) return;
    await answer(currentParts);
    await steer(currentParts);
  };

  return {
    poll() {
      leasedRun.wake();
      done = done.then(handle).catch((error: unknown) => leasedRun.lose(error));
    },
    setPrompting(prompting) {
      isPrompting = prompting;
      isSteering = false;
    },
    settled: () => done,
  };
}
