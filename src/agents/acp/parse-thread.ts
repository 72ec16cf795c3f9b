// The program of the thread that parses an agent's long lines: their size and structure may take seconds and much
// memory.
import { serveTasks } from '../../threads/serve-tasks.ts';
import { isTooComplex, parseMessage } from './trim.ts';

serveTasks((line: Uint8Array) => {
  const tooComplex = isTooComplex(line);
  const message = tooComplex ? null : parseMessage(Buffer.from(line.buffer, line.byteOffset, line.length).toString());
  return { message, isTooComplex: tooComplex };
});
