import { vi } from 'vitest';
import { createPatterns } from '../../src/domain/automations/triggers/create-patterns.ts';
import type { Patterns } from '../../src/domain/patterns.ts';
import type { TestApp } from './app.ts';

/** Patterns that a real thread checks, which answers only while its gate is open. */
export interface GatedPatterns {
  readonly patterns: Patterns;
  open(): void;
  /** The number of questions that the thread has received. */
  requestCount(): number;
  /** Resolves when the thread has received this many questions. */
  waitForRequests(count: number): Promise<void>;
}

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Creates patterns whose gate is closed at first; `limitMs` is their time limit. */
export function createGatedPatterns(limitMs = 60_000, now = () => new Date()): GatedPatterns {
  const gate = new Int32Array(new SharedArrayBuffer(8));
  const program = new URL('gated-pattern-thread.ts', import.meta.url);
  const requestCount = () => Atomics.load(gate, 1);
  return {
    patterns: createPatterns({ log, now, program, data: gate, limitMs }),
    open() {
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
    },
    requestCount,
    async waitForRequests(count) {
      await vi.waitUntil(() => requestCount() >= count, { timeout: 60_000 });
    },
  };
}

/** Makes an app use {@link createGatedPatterns}. */
export function gatePatterns({ app }: Pick<TestApp, 'app'>, limitMs?: number): GatedPatterns {
  const gated = createGatedPatterns(limitMs, () => app.services.now());
  (app.services as { patterns: Patterns }).patterns = gated.patterns;
  return gated;
}
