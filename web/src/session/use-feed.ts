import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { useRelayEnvironment } from 'react-relay';
import { Feed, type Snapshot } from './feed.ts';

/** The log of a session as long as the component is there. See {@link Feed}. */
export function useFeed(id: string): Snapshot & Pick<Feed, 'loadEarlier'> {
  const environment = useRelayEnvironment();
  const feed = useMemo(() => new Feed(environment, id), [environment, id]);
  useEffect(() => {
    feed.start();
    return () => feed.stop();
  }, [feed]);
  const snapshot = useSyncExternalStore(feed.listen, feed.snapshot);
  return useMemo(() => ({ ...snapshot, loadEarlier: feed.loadEarlier }), [snapshot, feed]);
}
