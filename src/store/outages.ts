import type { StoreUnavailableError } from './unavailable.ts';

/** The parts of a failure that the log of an outage contains. */
type Failure = Pick<StoreUnavailableError, 'reason' | 'isFull' | 'isReadOnly'>;

/** Minimum time between two lines about one outage. */
const lineMs = 1_000;

/** The log of an outage: its start, a line per second while it lasts, and its end. */
export interface OutageLog {
  /** Records that an operation failed because the service is unavailable. */
  failed(failure: Failure): void;
  /** Tells if the last failure of a current outage was a full disk. */
  isFull(): boolean;
  stop(): void;
}

/** Options of {@link createOutageLog}. */
export interface OutageLogOptions {
  /** The subject of the sentences: "The database". */
  readonly subject: string;
  /**
   * Rejects while the service is unavailable; with `isWrite`, while it accepts no writes. It is called once a second
   * during an outage.
   */
  readonly probe: (isWrite: boolean) => Promise<unknown>;
  readonly log: Record<'warn' | 'error', (fields: object, message: string) => void>;
}

/** See {@link OutageLog}. */
export function createOutageLog({ subject, probe, log }: OutageLogOptions): OutageLog {
  let timer: NodeJS.Timeout | null = null;
  let startedAt = 0;
  let failures = 0;
  let newFailures = 0;
  let last: Failure = { reason: '', isFull: false, isReadOnly: false };
  let isProbing = false;

  const end = () => {
    if (timer) clearInterval(timer);
    timer = null;
  };
  const report = async () => {
    if (newFailures > 0) {
      log.error({ failures: newFailures, reason: last.reason }, `${subject} is still unavailable.`);
      newFailures = 0;
    }
    if (isProbing) return;
    isProbing = true;
    const isBack = await probe(last.isFull || last.isReadOnly).then(
      () => true,
      () => false,
    );
    isProbing = false;
    // A failure during the probe extends the outage by a second.
    if (timer === null || !isBack || newFailures > 0) return;
    end();
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    log.warn({ failures, seconds }, `${subject} is available again.`);
  };

  return {
    failed({ reason, isFull, isReadOnly }) {
      last = { reason, isFull, isReadOnly };
      failures += 1;
      if (timer !== null) {
        newFailures += 1;
        return;
      }
      startedAt = performance.now();
      failures = 1;
      newFailures = 0;
      log.error({ reason }, isFull ? `${subject} has no disk space left.` : `${subject} is unavailable.`);
      timer = setInterval(() => void report(), lineMs).unref();
    },
    isFull: () => timer !== null && last.isFull,
    stop: end,
  };
}
