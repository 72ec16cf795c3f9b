// The program of the thread that reads an agent's long lines: their size and their structure may take seconds and much memory.
import { serveTasks } from '../../threads/serve-tasks.ts';
import { isTooComplex, parseMessage } from './trim.ts';

serveTasks((line: Uint8Array) => {
  const tooComplex = isTooComplex(line);
  const message = tooComplex ? null : parseMessage(Buffer.from(line.buffer, line.byteOffset, line.length).toString());
  return { message, isTooComplex: tooComplex };
});
