import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Writes the paths of the failed test files to the file `FAILED_TEST_FILES`, one per line. Writes nothing after an error
 * outside of all tests, because running files again cannot show that such an error is gone.
 */
export class FailedFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const path = process.env.FAILED_TEST_FILES;
    if (!path || errors.length > 0) return;
    const failed = modules.filter((module) => !module.ok()).map((module) => relative(process.cwd(), module.moduleId));
    writeFileSync(path, [...new Set(failed)].map((file) => `${file}\n`).join(''));
  }
}
