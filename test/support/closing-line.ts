import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with one machine-readable line: `12 passed, 0 failed, 3 skipped`. */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
    // The tests of a file that could not be loaded, or whose hooks failed, never ran.
    const broken = modules.filter((module) => module.state() === 'failed' && module.errors().length > 0).length;
    const count = (state: string) => states.filter((each) => each === state).length;
    process.stdout.write(
      `\n${count('passed')} passed, ${count('failed') + broken} failed, ${count('skipped')} skipped\n`,
    );
  }
}
