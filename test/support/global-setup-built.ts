import type { TestProject } from 'vitest/node';
import { ensurePrograms } from './built.ts';

/**
 * Builds the programs and threads that the service under test starts: half a second where a source of them is newer. The
 * service itself and the console are built by the files that need them.
 */
export async function setup(project: TestProject): Promise<void> {
  project.onTestsRerun(ensurePrograms);
  await ensurePrograms();
}
