import { DomainError } from '../../common/errors.ts';
import { codeBlock, type OwnRepository } from '../../common/inert-markdown.ts';
import { createThreadPool, ThreadError, threadProgram } from '../../threads/thread-pool.ts';
import type { InertTask } from './inert-thread.ts';

/** Time limit for the texts of a call, from the moment when the thread is ready. Usual ones take less than a second. */
const defaultLimitMs = 5_000;

// The parser of Markdown takes many seconds for some short texts, which would keep the event loop from other work.
const threads = createThreadPool<string[]>({
  program: threadProgram('inert-thread', import.meta.url),
  maxThreads: 1,
  memory: { oldGenerationMb: 256, youngGenerationMb: 32 },
  idleMs: 10_000,
  queue: { maxItems: 100, maxItemsPerKey: 10 },
});

interface InertOptions {
  /** Organizations are served in turn. */
  readonly organizationId: string;
  /** Issues of it may be closed. */
  readonly own?: OwnRepository | null;
  readonly limitMs?: number;
}

/**
 * Makes texts for a forge harmless, as `inertMarkdown` does. If that takes too long or too much memory, all of them are blocks of code.
 * Throws INVALID_STATE if the thread has too much to do.
 */
export async function inertTexts(
  texts: readonly string[],
  { organizationId, own = null, limitMs = defaultLimitMs }: InertOptions,
): Promise<readonly string[]> {
  try {
    return await threads.run({ message: { texts, own } satisfies InertTask, limitMs, key: organizationId });
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error;
    if (error.reason === 'time' || error.reason === 'memory') return texts.map(codeBlock);
    const message = 'The service can’t post this right now. Try again in a minute.';
    throw Object.assign(new DomainError('INVALID_STATE', message), { cause: error });
  }
}
