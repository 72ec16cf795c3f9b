import pg from 'pg';

interface FollowOptions {
  /** Changed by the caller, who then calls `update`. */
  readonly wanted: ReadonlySet<string>;
  readonly onListening: (channels: readonly string[]) => void;
}

/** The channels that one connection listens to. */
export interface FollowedChannels {
  /**
   * Listens to the wanted channels and to no others. Resolves when that is done. Calls during a change are served by the next one, so that
   * many changes need few statements. Rejects if the connection is lost.
   */
  update(): Promise<void>;
}

/** Keeps the channels of a connection in step with a set. */
export function followChannels(client: pg.Client, { wanted, onListening }: FollowOptions): FollowedChannels {
  const followed = new Set<string>();
  let isRunning = false;
  let running = Promise.resolve();
  const change = async () => {
    isRunning = true;
    try {
      for (;;) {
        const added = [...wanted].filter((channel) => !followed.has(channel));
        const removed = [...followed].filter((channel) => !wanted.has(channel));
        if (added.length + removed.length === 0) return;
        const statements = [
          ...added.map((channel) => `listen ${pg.escapeIdentifier(channel)}`),
          ...removed.map((channel) => `unlisten ${pg.escapeIdentifier(channel)}`),
        ];
        await client.query(statements.join(';'));
        for (const channel of added) followed.add(channel);
        for (const channel of removed) followed.delete(channel);
        if (added.length > 0) onListening(added);
      }
    } finally {
      // At once: a call after the last comparison needs another one.
      isRunning = false;
    }
  };
  return {
    update() {
      if (!isRunning) running = change();
      return running;
    },
  };
}
