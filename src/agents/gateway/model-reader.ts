import { Transform } from 'node:stream';
import { UsageScanner } from './usage-scanner.ts';

/** Creates a stream that passes on the body of a call, and reads it until it has found the model. */
export function createModelReader(onModel: (model: string) => void): Transform {
  let isFound = false;
  const scanner = new UsageScanner(
    () => undefined,
    (model, isTopLevel) => {
      if (!isTopLevel || isFound) return;
      isFound = true;
      onModel(model);
    },
  );
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length && !isFound; at++) scanner.take(chunk[at] as number);
      done(null, chunk);
    },
  });
}
