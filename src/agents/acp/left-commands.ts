import { setTimeout as wait } from 'node:timers/promises';
import type { Child } from './child.ts';

/** The maximum time between the start of a command and the moment at which a busy worker reads the report of its call. */
const reportDelayMs = 2_000;

/** A turn that was stopped and has ended. Times in milliseconds of `performance.now()`. */
export interface StoppedTurn {
  readonly promptedMs: number;
  /** The time at which the oldest command that was open at the stop was reported; null: none was open. */
  readonly commandSinceMs: number | null;
  /** The time until which the commands may end by themselves. */
  readonly deadlineMs: number;
}

/**
 * Kills the commands of a stopped turn that still run at the deadline. Codex leaves a command that ignores SIGTERM
 * running, and opencode waits three seconds for it.
 */
export async function killLeftCommands(child: Pick<Child, 'killCommands'>, turn: StoppedTurn): Promise<void> {
  if (turn.commandSinceMs === null) return;
  const untilMs = performance.now();
  await wait(Math.max(0, turn.deadlineMs - untilMs), undefined, { ref: false });
  await child.killCommands({ fromMs: Math.max(turn.promptedMs, turn.commandSinceMs - reportDelayMs), untilMs });
}
