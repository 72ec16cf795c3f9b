import type { AgentProfile } from '../../agents/agent.ts';
import type { Meter } from '../metering/meter.ts';
import { FencedError } from '../sessions/log.ts';
import type { HeldRun } from './held-run.ts';
import { noteAnswer, readAnswer, readWaitingWords, takeBackAnswer } from './questions.ts';
import type { Recorder } from './recorder.ts';
import { isStillHeld } from './turns.ts';

/** What a ring is obeyed with. */
export interface CommandParts {
  readonly profile: AgentProfile;
  readonly recorder: Recorder;
  readonly meter: Meter;
}

/** Obeys what comes while the agent works. */
export interface Commands {
  /** Something may have happened: the session was ended or taken, or the user spoke. Looks, one time after another. */
  look(): void;
  /** From now on a prompt is in flight, or none. */
  setPrompting(isPrompting: boolean): void;
  /** Resolves when all that was rung for is obeyed. */
  settled(): Promise<void>;
}

/** Commands for a run; until `parts` gives something only a loss is noticed. */
export function createCommands(held: HeldRun, parts: () => CommandParts | null): Commands {
  const { context, run } = held;
  let done: Promise<void> = Promise.resolve();
  let isPrompting = false;
  let isSteering = false;

  // The user's answer to a question that is open inside the turn.
  const answer = async ({ recorder, meter }: CommandParts) => {
    const question = recorder.openQuestion();
    if (question === null) return;
    const given = await readAnswer(context, run.sessionId, question.entryId);
    if (given === null) return;
    await noteAnswer(context, run, given);
    // The agent may have given it up meanwhile, and asked another.
    if (recorder.openQuestion() === question) recorder.closeQuestion();
    const isTaken = held.agent?.answer(question.id, { text: given.body, optionId: given.optionId });
    if (isTaken !== true) await takeBackAnswer(context, run, given);
    meter.noted();
  };

  // A message ends the turn, and is the next one's: always when it has cancelled a question, else where the profile says so. It
  // waits when the agent does not obey.
  const steer = async ({ profile, recorder }: CommandParts) => {
    if (!isPrompting || isSteering) return;
    const words = await readWaitingWords(context, run.sessionId);
    const isSteered = profile.steer === 'cancel' && recorder.openQuestion() === null && words.areThere;
    if (!isPrompting || !(words.areInterrupting || isSteered)) return;
    isSteering = true;
    recorder.closeQuestion();
    void held.agent?.cancel();
  };

  const obey = async () => {
    if (held.isLost) return;
    // Also while it ends by itself: its agent may take long to stop.
    if (!(await isStillHeld(context, run))) return held.lose(new FencedError(run.sessionId));
    if (held.isOver) return;
    const given = parts();
    if (given === null) return;
    await answer(given);
    await steer(given);
  };

  return {
    look() {
      held.ring();
      done = done.then(obey).catch((error: unknown) => held.lose(error));
    },
    setPrompting(prompting) {
      isPrompting = prompting;
      isSteering = false;
    },
    settled: () => done,
  };
}
