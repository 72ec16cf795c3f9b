import { Transform } from 'node:stream';
import { UsageScanner } from './usage-scanner.ts';

/** The longest beginning of a body that is held until its model is known, in bytes. */
const maxHeldBytes = 8 * 1_048_576;

/** Options of {@link createModelGate}. */
export interface ModelGateOptions {
  /** True: nothing of the body passes before the model is known and accepted. */
  readonly isHeld: boolean;
  /**
   * Called with the model that a body names; null: it names none, more than one, or in a form that cannot be read. Called at
   * most twice. False: nothing more passes.
   */
  onModel(model: string | null): boolean;
}

/** Creates a stream that passes on the body of a call and reads the model from it. Without `isHeld` it reads only up to there. */
export function createModelGate({ isHeld, onModel }: ModelGateOptions): Transform {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let model: string | null = null;
  let isOpen = !isHeld;
  let isClosed = false;
  const decide = (found: string | null) => {
    if (onModel(found)) isOpen = true;
    else isClosed = true;
  };
  const scanner = new UsageScanner(
    () => undefined,
    (found, isTopLevel) => {
      if (!isTopLevel || isClosed || found === model) return;
      // Programs differ in which of two members counts.
      decide(model === null ? found : null);
      model ??= found;
    },
  );
  const release = () => {
    const all = held;
    held = [];
    return Buffer.concat(all);
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (isHeld || model === null) {
        for (let at = 0; at < chunk.length && !isClosed && (isHeld || model === null); at++)
          scanner.take(chunk[at] as number);
      }
      heldBytes += isOpen ? 0 : chunk.length;
      if (heldBytes > maxHeldBytes && !isOpen && !isClosed) decide(null);
      if (isClosed) return done();
      held.push(chunk);
      if (isOpen) done(null, release());
      else done();
    },
    flush(done) {
      if (!isOpen && !isClosed) decide(null);
      done(null, isOpen ? release() : null);
    },
  });
}
