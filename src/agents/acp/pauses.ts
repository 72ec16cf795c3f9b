/** The times after which the text of an open block is reported, so that a crash loses no more. */
export interface PauseTimes {
  /** After the last output. */
  readonly quietMs: number;
  /** During continuous output. */
  readonly longMs: number;
}

/** Detects pauses of a stream, so that its text so far can be shown. */
export interface Pauses {
  /** Called when text arrives. */
  recordText(): void;
  /** Called when all text so far has been reported. */
  clear(): void;
}

/** Calls `onPause` after `quietMs` without text, and every `longMs` during continuous text. */
export function createPauses(quietMs: number, longMs: number, onPause: () => void): Pauses {
  let quiet: NodeJS.Timeout | undefined;
  let long: NodeJS.Timeout | undefined;
  const clear = () => {
    clearTimeout(quiet);
    clearTimeout(long);
    quiet = undefined;
    long = undefined;
  };
  const pause = () => {
    clear();
    onPause();
  };
  return {
    recordText() {
      if (quiet) quiet.refresh();
      else quiet = setTimeout(pause, quietMs).unref();
      long ??= setTimeout(pause, longMs).unref();
    },
    clear,
  };
}
