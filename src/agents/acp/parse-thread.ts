// The program of the thread that reads an agent's long lines: their size and their structure may take seconds and much memory.
import { parentPort } from 'node:worker_threads';
import { parseMessage } from './trim.ts';

parentPort?.on('message', (line: Uint8Array) => {
  parentPort?.postMessage({ message: parseMessage(Buffer.from(line.buffer, line.byteOffset, line.length).toString()) });
});
parentPort?.postMessage('ready');
