import type { Viewer } from '../auth/viewer.ts';

/** Whatever stays open: a WebSocket, or a stream of server-sent events. */
export type StreamKind = 'socket' | 'stream';

/** The sockets and streams of this process, counted for each principal across all transports. */
export interface OpenStreams {
  /** Takes a place for one more; null when its principal has as many as it may. `end` is called when the service stops. */
  open(kind: StreamKind, viewer: Viewer, end: () => void): (() => void) | null;
  /** How many there are; all 0 after every way of leaving. */
  count(): Record<StreamKind, number>;
  /** The most that one principal may have. */
  readonly most: number;
  endAll(): void;
}

/** See {@link OpenStreams}. */
export function createOpenStreams(most: number): OpenStreams {
  const ends = new Map<symbol, { kind: StreamKind; end: () => void }>();
  const counts = new Map<string, number>();
  return {
    most,
    open(kind, { principal }, end) {
      const count = counts.get(principal.id) ?? 0;
      if (count >= most) return null;
      counts.set(principal.id, count + 1);
      const key = Symbol(kind);
      ends.set(key, { kind, end });
      return () => {
        if (!ends.delete(key)) return;
        const left = (counts.get(principal.id) ?? 1) - 1;
        if (left === 0) counts.delete(principal.id);
        else counts.set(principal.id, left);
      };
    },
    count() {
      const kinds = [...ends.values()].map(({ kind }) => kind);
      const of = (wanted: StreamKind) => kinds.filter((kind) => kind === wanted).length;
      return { socket: of('socket'), stream: of('stream') };
    },
    endAll() {
      for (const { end } of [...ends.values()]) end();
    },
  };
}
