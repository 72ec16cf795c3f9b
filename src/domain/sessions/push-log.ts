import type { Viewer } from '../../auth/viewer.ts';
import { PushReader } from '../../realtime/push.ts';
import { type LogBatch, mayViewBatch, type SessionLog } from './log-source.ts';
import type { WatchStart } from './start-watch.ts';
import type { SessionWatches } from './watch.ts';

/** Sends the entries of a session's log as they are written, as long as its viewer may see the session. */
export abstract class LogPush<R> extends PushReader<SessionLog, number, LogBatch, R> {
  /** Returns the viewer as it is now. */
  protected abstract viewer(): Viewer;

  mayTake(batch: LogBatch): boolean {
    return mayViewBatch(this.viewer(), batch);
  }

  protected follow({ tailer, sessionLogs }: SessionWatches, { log, after }: WatchStart): void {
    this.attach(tailer.tail(sessionLogs, { log, cursor: after }, this));
  }
}
