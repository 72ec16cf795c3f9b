/** A regular expression of RE2's language, or globs of which any may match. */
export type Pattern =
  | { readonly kind: 'regex'; readonly source: string }
  | { readonly kind: 'globs'; readonly globs: readonly string[] };

/** True if a pattern matches any of some texts; without texts it is only compiled. */
export interface PatternTest {
  readonly pattern: Pattern;
  readonly texts: readonly string[];
}

/** The message to the thread; `progress[0]` is the index of the test that it works on, in shared memory. */
export interface PatternQuestion {
  readonly tests: readonly PatternTest[];
  readonly progress: Int32Array;
}

/** For each test whether it matches; null: the pattern is no pattern. */
export type PatternAnswer = readonly (boolean | null)[];

/** The index of the test that took too much time or memory; null: those of the organization are paused. */
export interface TooSlow {
  readonly slow: number | null;
}

/** Compiles and runs the patterns of users, in a thread and with a time limit: the only way to do so. */
export interface Patterns {
  /**
   * Runs the tests of one automation. Organizations are served in turn. After patterns were too slow they are answered so for a
   * minute without being run, as are all of an organization's after several. RATE_LIMITED when too many tests wait.
   */
  run(organizationId: string, tests: readonly PatternTest[]): Promise<PatternAnswer | TooSlow>;
  /** Ends the thread. */
  stop(): Promise<void>;
}
