import type { TestProject } from 'vitest/node';
import { ensurePrograms } from './built.ts';

/**
 * Builds the programs and threads that the service under test starts; half a second if a source is newer. The test files
 * that need the service or the console build them.
 */
export async function setup(project: TestProject): Promise<void> {
  project.onTestsRerun(ensurePrograms);
  await ensurePrograms();
}
