import { DomainError } from '../../common/errors.ts';
import { codeBlock } from '../../common/inert-markdown.ts';
import { createThreadPool, ThreadError, threadProgram } from '../../threads/thread-pool.ts';

/** Time limit for the texts of a review, from the moment when the thread is ready. Usual ones take less than a second. */
const defaultLimitMs = 5_000;

// The parser of Markdown takes many seconds for some short texts, which would keep the event loop from other work.
const threads = createThreadPool<string[]>({
  program: threadProgram('inert-thread', import.meta.url),
  maxThreads: 1,
  memory: { oldGenerationMb: 256, youngGenerationMb: 32 },
  idleMs: 10_000,
  queue: { maxItems: 100, maxItemsPerKey: 10 },
});

/**
 * Makes the texts of a review harmless, as `inertMarkdown` does. If that takes too long or too much memory, all of them are blocks of code.
 * `organizationId`: organizations are served in turn. Throws INVALID_STATE if the thread has too much to do.
 */
export async function inertTexts(
  texts: readonly string[],
  { organizationId, limitMs = defaultLimitMs }: { readonly organizationId: string; readonly limitMs?: number },
): Promise<readonly string[]> {
  try {
    return await threads.run({ message: texts, limitMs, key: organizationId });
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error;
    if (error.reason === 'time' || error.reason === 'memory') return texts.map(codeBlock);
    const message = 'The service cannot take the review now. Submit it again in a minute.';
    throw Object.assign(new DomainError('INVALID_STATE', message), { cause: error });
  }
}
