// The pattern thread with a gate: it waits before each answer until the test opens the gate. See gated-patterns.ts.
import { parentPort, workerData } from 'node:worker_threads';

const gate = workerData as Int32Array;

// Registered before the program's own listener, so it runs first.
parentPort?.on('message', () => {
  Atomics.add(gate, 1, 1);
  Atomics.wait(gate, 0, 0);
});
await import('../../src/domain/automations/triggers/pattern-thread.ts');
