import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { useRelayEnvironment } from 'react-relay';
import type { transcriptPage_events$key } from '../__generated__/transcriptPage_events.graphql.ts';
import type { Draft } from './open-drafts.ts';
import { readTranscriptPage } from './transcript-page.ts';
import { type Snapshot, TranscriptStore } from './transcript-store.ts';

/** A {@link Snapshot}, and access to the drafts, which change more often. */
export type Transcript = Snapshot &
  Pick<TranscriptStore, 'loadEarlier' | 'loadLater' | 'openAt' | 'openEnd' | 'cursorAt' | 'listen' | 'drafts'>;

/**
 * The log of a session while the component is mounted. `last`: its end if that was read with the page; it only counts at
 * first. See {@link TranscriptStore}.
 */
export function useTranscript(id: string, last: transcriptPage_events$key | null): Transcript {
  const environment = useRelayEnvironment();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the store continues from its first page by itself.
  const store = useMemo(
    () => new TranscriptStore(environment, id, last && readTranscriptPage(last)),
    [environment, id],
  );
  useEffect(() => {
    store.start();
    return () => store.stop();
  }, [store]);
  const snapshot = useSyncExternalStore(store.listen, store.snapshot);
  return useMemo(() => {
    const { loadEarlier, loadLater, openAt, openEnd, cursorAt, listen, drafts } = store;
    return { ...snapshot, loadEarlier, loadLater, openAt, openEnd, cursorAt, listen, drafts };
  }, [snapshot, store]);
}

/** The texts that the agent is writing. */
export function useDrafts({ listen, drafts }: Transcript): readonly Draft[] {
  return useSyncExternalStore(listen, drafts);
}
