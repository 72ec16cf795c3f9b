/** Channels with their numbers of users. */
export interface ChannelUsers {
  /** Adds a user of a channel. Returns the function that removes it. */
  add(channel: string): () => void;
  /** Forgets the channels that wait for their end. */
  stop(): void;
}

interface ChannelUsersOptions {
  /** Called for the first user of a channel. */
  readonly onUsed: (channel: string) => void;
  /** Called some time after the last user has left. */
  readonly onUnused: (channel: string) => void;
  /** The time until then: a page that reloads comes back. */
  readonly keepMs: number;
}

/** Counts the users of channels. */
export function createChannelUsers({ onUsed, onUnused, keepMs }: ChannelUsersOptions): ChannelUsers {
  const counts = new Map<string, number>();
  const timers = new Map<string, NodeJS.Timeout>();
  const leave = (channel: string) => {
    const count = (counts.get(channel) ?? 0) - 1;
    counts.set(channel, count);
    if (count > 0) return;
    const end = () => {
      timers.delete(channel);
      counts.delete(channel);
      onUnused(channel);
    };
    timers.set(channel, setTimeout(end, keepMs).unref());
  };
  return {
    add(channel) {
      const count = counts.get(channel);
      clearTimeout(timers.get(channel));
      timers.delete(channel);
      counts.set(channel, (count ?? 0) + 1);
      if (count === undefined) onUsed(channel);
      let isUser = true;
      return () => {
        if (isUser) leave(channel);
        isUser = false;
      };
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}
