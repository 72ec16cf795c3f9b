import type { Readable } from 'node:stream';
import type { StopGraces } from '../../src/agents/sandbox/driver.ts';
import type { ListLimits } from '../../src/agents/sandbox/workspaces.ts';

/** A request of remote-driver.ts to remote-machine.ts: the first line of a connection. Bytes may follow. */
export interface RemoteRequest {
  readonly op: string;
  /** The number of a sandbox, a process or a connection. */
  readonly id?: number;
  readonly sessionId?: string;
  readonly isNew?: boolean;
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly graces?: StopGraces;
  readonly directory?: readonly string[];
  readonly name?: string;
  readonly path?: string;
  readonly text?: string;
  readonly mode?: number | undefined;
  readonly limits?: ListLimits;
  readonly beforeMs?: number;
  readonly protocol?: 'http' | 'stream';
}

/** Reads one line and leaves the rest in the stream. Rejects if the stream ends before. */
export function headerOf(stream: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const read = () => {
      for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) {
        head = Buffer.concat([head, chunk]);
        const end = head.indexOf(10);
        if (end < 0) continue;
        off();
        if (end + 1 < head.length) stream.unshift(head.subarray(end + 1));
        resolve(head.subarray(0, end).toString());
        return;
      }
    };
    const fail = () => {
      off();
      reject(new Error('The connection has ended.'));
    };
    const off = () => stream.off('readable', read).off('end', fail).off('close', fail).off('error', fail);
    stream.on('readable', read).on('end', fail).on('close', fail).on('error', fail);
    read();
  });
}
