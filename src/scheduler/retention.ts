import type { Services } from '../domain/context.ts';
import { forgetIdempotencyKeys } from '../domain/idempotency.ts';

/** How often what is kept for a time only is looked through. */
const everyMs = 60 * 60 * 1_000;

/** Something that happens by itself, until it is stopped. */
export interface Scheduled {
  start(): void;
  /** Resolves when nothing of it is at work any more. */
  stop(): Promise<void>;
}

/** Forgets idempotency keys that are past their time. Several processes may do it at once: they delete the same rows. */
export function createRetention(services: Services): Scheduled {
  let timer: NodeJS.Timeout | null = null;
  const sweep = () => {
    forgetIdempotencyKeys(services).catch((error: unknown) =>
      services.log.warn({ err: error }, 'Old idempotency keys could not be deleted.'),
    );
  };
  return {
    start() {
      sweep();
      timer = setInterval(sweep, everyMs).unref();
    },
    async stop() {
      if (timer) clearInterval(timer);
      timer = null;
    },
  };
}
