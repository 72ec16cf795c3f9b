// The thread of patterns with a gate: before each answer it waits until the test opens it. See gated-patterns.ts.
import { parentPort, workerData } from 'node:worker_threads';

const gate = workerData as Int32Array;

// Registered before the program's own listener, so that it runs first.
parentPort?.on('message', () => {
  Atomics.add(gate, 1, 1);
  Atomics.wait(gate, 0, 0);
});
await import('../../src/domain/automations/triggers/pattern-thread.ts');
