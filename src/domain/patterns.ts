/** A regular expression in RE2 syntax, or globs of which any may match. */
export type Pattern =
  | { readonly kind: 'regex'; readonly source: string }
  | { readonly kind: 'globs'; readonly globs: readonly string[] };

/** True if a pattern matches any of some texts; without texts it is only compiled. */
export interface PatternTest {
  readonly pattern: Pattern;
  readonly texts: readonly string[];
}

/** The message to the thread; `progress[0]` is the index of the current test, in shared memory. */
export interface PatternQuestion {
  readonly tests: readonly PatternTest[];
  readonly progress: Int32Array;
}

/** The result of each test; null: the pattern is invalid. */
export type PatternAnswer = readonly (boolean | null)[];

/** The index of the test that took too much time or memory; null: the tests of the organization are paused. */
export interface TooSlow {
  readonly slow: number | null;
}

/** Compiles and runs users' patterns, in a thread and with a time limit: the only way to do so. */
export interface Patterns {
  /**
   * Runs the tests of one automation. Organizations are served in turn. Tests that were too slow are refused for a
   * minute without being run; after several slow calls, so are all tests of the organization. Throws RATE_LIMITED if
   * too many tests wait.
   */
  run(organizationId: string, tests: readonly PatternTest[]): Promise<PatternAnswer | TooSlow>;
  /** Ends the thread. */
  stop(): Promise<void>;
}
