import type { PushCommand } from './command-list.ts';
import type { RefOutcome } from './push-report.ts';
import type { PushedRef } from './repositories.ts';

/** The outcome of a push, as far as it is known. */
export class PushState {
  readonly #commands: readonly PushCommand[];
  #outcome: PushedRef['outcome'] = 'refused';
  #reason: string | null = null;
  #reasons: ReadonlyMap<string, string> = new Map();
  #reported: ReadonlyMap<string, RefOutcome> = new Map();
  #packBytes = 0;

  constructor(commands: readonly PushCommand[]) {
    this.#commands = commands;
  }

  /** The number of bytes of the pack that were sent to the forge. */
  get packBytes(): number {
    return this.#packBytes;
  }

  get outcome(): PushedRef['outcome'] {
    return this.#outcome;
  }

  /** Counts bytes of the pack. */
  addBytes(count: number): void {
    this.#packBytes += count;
  }

  /** Sets the outcome of all refs of which the forge reports nothing. */
  set(outcome: PushedRef['outcome'], reason: string | null): void {
    this.#outcome = outcome;
    this.#reason = reason;
  }

  /** Sets the reason of a refusal, and those of single refs. */
  refuse(reason: string, reasons: ReadonlyMap<string, string>): void {
    this.#reason = reason;
    this.#reasons = reasons;
  }

  /** Sets the forge's own report, which may still grow. */
  setReported(reported: ReadonlyMap<string, RefOutcome>): void {
    this.#reported = reported;
  }

  /** Returns the reason for a ref. */
  reasonFor(ref: string): string | null {
    return this.#reasons.get(ref) ?? this.#reason;
  }

  /** Returns all refs of the push with their outcomes. */
  refs(): PushedRef[] {
    return this.#commands.map(({ ref, oldId, newId }) => {
      const known = this.#reported.get(ref);
      if (known) return { ref, oldId, newId, outcome: known.isOk ? 'accepted' : 'rejected', reason: known.reason };
      return { ref, oldId, newId, outcome: this.#outcome, reason: this.reasonFor(ref) };
    });
  }
}
