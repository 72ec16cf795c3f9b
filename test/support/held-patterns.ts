import { vi } from 'vitest';
import { createPatterns } from '../../src/domain/automations/create-patterns.ts';
import type { Patterns } from '../../src/domain/automations/patterns.ts';
import type { TestApp } from './app.ts';

/** Patterns run by a real thread that answers only while its gate is open. */
export interface HeldPatterns {
  readonly patterns: Patterns;
  open(): void;
  /** How many questions the thread has got. */
  asked(): number;
  /** Resolves when the thread has got so many questions. */
  untilAsked(count: number): Promise<void>;
}

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Creates patterns with a gate, which is shut at first; `limitMs` is their time limit. */
export function createHeldPatterns(limitMs = 60_000, now = () => new Date()): HeldPatterns {
  const gate = new Int32Array(new SharedArrayBuffer(8));
  const program = new URL('held-pattern-thread.ts', import.meta.url);
  const asked = () => Atomics.load(gate, 1);
  return {
    patterns: createPatterns({ log, now, program, data: gate, limitMs }),
    open() {
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
    },
    asked,
    async untilAsked(count) {
      await vi.waitUntil(() => asked() >= count, { timeout: 30_000 });
    },
  };
}

/** Gives an app {@link createHeldPatterns}. */
export function holdPatterns({ app }: Pick<TestApp, 'app'>, limitMs?: number): HeldPatterns {
  const held = createHeldPatterns(limitMs, () => app.services.now());
  (app.services as { patterns: Patterns }).patterns = held.patterns;
  return held;
}
