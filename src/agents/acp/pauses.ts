/** Tells when a stream pauses, so that what it said so far can be shown. */
export interface Pauses {
  /** Something was said. */
  recordText(): void;
  /** All that was said has been given. */
  clear(): void;
}

/** `onPause` is called once nothing was said for `quietMs`, and every `longMs` while it goes on without a pause. */
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
