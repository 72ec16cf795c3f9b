import type { Reporter, TestModule } from 'vitest/node';

/** Closes a run with one line that any program can read: `12 passed, 0 failed, 3 skipped`. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
    // A file that could not be read, or whose hooks failed, has tests that never ran.
    const broken = modules.filter((module) => module.state() === 'failed' && module.errors().length > 0).length;
    const count = (state: string) => states.filter((each) => each === state).length;
    process.stdout.write(
      `\n${count('passed')} passed, ${count('failed') + broken} failed, ${count('skipped')} skipped\n`,
    );
  }
}
