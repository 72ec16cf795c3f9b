import type { LiveViewers } from '../../auth/live-viewers.ts';
import type { Viewer } from '../../auth/viewer.ts';

/** Whatever stays open: a WebSocket, or a stream of server-sent events. */
export type StreamKind = 'socket' | 'stream';

/** The sockets and streams of this process, counted for each principal across all doors and transports. */
export interface OpenStreams {
  /** Takes a place for one more; null when its principal has as many as it may. `end` is called when the service stops. */
  open(kind: StreamKind, viewer: Viewer, end: () => void): (() => void) | null;
  /** How many there are; all 0 after every way of leaving. */
  count(): Record<StreamKind, number>;
  /** The most that one principal may have. */
  readonly max: number;
  endAll(): void;
}

/** What is said to a principal that has as many open as it may. */
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

/** A stream that is open: see {@link openLiveStream}. */
export interface LiveStream {
  /** Who reads it, asked anew whenever it matters: what its viewer may do changes with its roles. */
  readonly current: () => Viewer;
  /** Gives back what it has taken. To be called after every way of leaving. */
  leave(): void;
}

/**
 * Takes a place for a stream of a viewer, and follows its key; null when its principal has as many open as it may. `end` is
 * called when the service stops, and when the viewer may no longer come.
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
