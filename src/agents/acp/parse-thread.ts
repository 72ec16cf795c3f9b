// The program of the thread that reads an agent's long lines: their size and their structure may take seconds and much memory.
import { parentPort } from 'node:worker_threads';
import { isTooComplex, parseMessage } from './trim.ts';

parentPort?.on('message', (line: Uint8Array) => {
  const tooComplex = isTooComplex(line);
  const message = tooComplex ? null : parseMessage(Buffer.from(line.buffer, line.byteOffset, line.length).toString());
  parentPort?.postMessage({ message, isTooComplex: tooComplex });
});
parentPort?.postMessage('ready');
