import type { LiveViewers } from '../../auth/live-viewers.ts';
import type { Viewer } from '../../auth/viewer.ts';

/** A kind of open connection: a WebSocket, or a stream of server-sent events. */
export type StreamKind = 'socket' | 'stream';

/** The sockets and streams of this process, counted for each principal across all APIs and transports. */
export interface OpenStreams {
  /**
   * Takes a slot for one more; null if its principal has reached the maximum. `end` is called when the service stops.
   */
  open(kind: StreamKind, viewer: Viewer, end: () => void): (() => void) | null;
  /** The number of open ones; all 0 after every way of closing. */
  count(): Record<StreamKind, number>;
  /** Maximum number for one principal. */
  readonly max: number;
  endAll(): void;
}

/** Returns the message for a principal that has reached the maximum. */
export function tooManyStreams({ max }: Pick<OpenStreams, 'max'>): string {
  return `At most ${max} sockets and streams may be open at once: close one first.`;
}

/** See {@link OpenStreams}. */
export function createOpenStreams(max: number): OpenStreams {
  const ends = new Map<symbol, { kind: StreamKind; end: () => void }>();
  const counts = new Map<string, number>();
  return {
    max,
    open(kind, { principal }, end) {
      const count = counts.get(principal.id) ?? 0;
      if (count >= max) return null;
      counts.set(principal.id, count + 1);
      const key = Symbol(kind);
      ends.set(key, { kind, end });
      return () => {
        if (!ends.delete(key)) return;
        const remaining = (counts.get(principal.id) ?? 1) - 1;
        if (remaining === 0) counts.delete(principal.id);
        else counts.set(principal.id, remaining);
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

/** An open stream: see {@link openLiveStream}. */
export interface LiveStream {
  /** Returns the current viewer; its permissions change with its roles. */
  readonly current: () => Viewer;
  /** Releases its slot. Call it after every way of closing. */
  leave(): void;
}

/**
 * Takes a slot for a viewer's stream, and follows its key; null if its principal has reached the maximum. `end` is
 * called when the service stops, and when the key ends or may no longer be used.
 */
export function openLiveStream(
  { openStreams, liveViewers }: { readonly openStreams: OpenStreams; readonly liveViewers: LiveViewers },
  { viewer, address }: { readonly viewer: Viewer; readonly address: string | null },
  end: () => void,
): LiveStream | null {
  const giveBack = openStreams.open('stream', viewer, end);
  if (giveBack === null) return null;
  const { current, release } = liveViewers.follow(viewer, address, end);
  return {
    current,
    leave() {
      giveBack();
      release();
    },
  };
}
