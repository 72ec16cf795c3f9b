import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { useRelayEnvironment } from 'react-relay';
import { type Snapshot, TranscriptStore } from './transcript-store.ts';

/** The log of a session while the component is mounted. See {@link TranscriptStore}. */
export function useTranscript(id: string): Snapshot & Pick<TranscriptStore, 'loadEarlier'> {
  const environment = useRelayEnvironment();
  const store = useMemo(() => new TranscriptStore(environment, id), [environment, id]);
  useEffect(() => {
    store.start();
    return () => store.stop();
  }, [store]);
  const snapshot = useSyncExternalStore(store.listen, store.snapshot);
  return useMemo(() => ({ ...snapshot, loadEarlier: store.loadEarlier }), [snapshot, store]);
}
