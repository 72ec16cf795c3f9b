import { fetchQuery, graphql } from 'react-relay';
import { type IEnvironment, requestSubscription } from 'relay-runtime';
import type { transcriptStorePageQuery } from '../__generated__/transcriptStorePageQuery.graphql.ts';
import type { transcriptStoreSubscription } from '../__generated__/transcriptStoreSubscription.graphql.ts';
import { markBroken, markRestored, onRecovery, waitBefore } from '../relay/connectivity.ts';
import { ServiceError } from '../relay/network.ts';
import type { LiveState } from '../relay/use-live.ts';
import { type Entry, isOver, readEntry } from './entry.ts';
import { type Draft, type DraftPart, OpenDrafts } from './open-drafts.ts';
import { readTranscriptPage, type TranscriptPage } from './transcript-page.ts';

/** The number of entries fetched at once. */
const pageSize = 100;
/** The time in ms after a break until drafts that were not sent again are removed. */
const staleMs = 15_000;

/** An immutable state of the transcript; each change creates a new one. */
export interface Snapshot {
  /** In log order, without gaps and duplicates. */
  readonly entries: readonly Entry[];
  /** True if the log has earlier entries. */
  readonly hasEarlier: boolean;
  readonly isLoadingEarlier: boolean;
  /** True once the end of the log has been read. */
  readonly isLoaded: boolean;
  readonly live: LiveState;
  /** The reason why the log cannot be read, if a retry would not help. */
  readonly error: string | null;
}

const pageDocument = graphql`
  query transcriptStorePageQuery($id: ID!, $last: Int!, $before: String) {
    session(id: $id) {
      events(last: $last, before: $before) {
        ...transcriptPage_events
      }
    }
  }
`;

const liveDocument = graphql`
  subscription transcriptStoreSubscription($id: ID!, $after: String) {
    sessionLive(sessionId: $id, after: $after) {
      __typename
      ... on SessionEventEdge {
        cursor
        node {
          ...entry_event
        }
      }
      ... on Draft {
        draftId
        kind
        toolCallId
        offset
        text
        isDone
        isTruncated
      }
    }
  }
`;

/**
 * The log of a session, from its end: the last page, earlier pages on request, new entries as they arrive, and drafts of
 * the next ones. After a break it resumes at the last cursor, without gaps or duplicates. An entry and the draft that it
 * replaces change together.
 */
export class TranscriptStore {
  #snapshot: Snapshot = {
    entries: [],
    hasEarlier: false,
    isLoadingEarlier: false,
    isLoaded: false,
    live: 'connecting',
    error: null,
  };
  readonly #environment: IEnvironment;
  readonly #id: string;
  readonly #listeners = new Set<() => void>();
  #startCursor: string | null = null;
  #endCursor: string | null = null;
  #received: Entry[] = [];
  readonly #open = new OpenDrafts();
  #drafts: readonly Draft[] = [];
  #haveDraftsChanged = false;
  #staleTimer = 0;
  #frame = 0;
  #timer = 0;
  #attempt = 0;
  #isStopped = true;
  #stopListening: () => void = () => undefined;
  #subscription: { dispose(): void } | null = null;

  /** `last`: the end of the log if it is already known; otherwise the store fetches it. */
  constructor(environment: IEnvironment, id: string, last: TranscriptPage | null = null) {
    this.#environment = environment;
    this.#id = id;
    if (last !== null) this.#startFrom(last);
  }

  readonly snapshot = (): Snapshot => this.#snapshot;

  /** The texts that are being written; they change more often than the snapshot. */
  readonly drafts = (): readonly Draft[] => this.#drafts;

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  start(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    window.addEventListener('online', this.#hurry);
    this.#stopListening = onRecovery(this.#hurry);
    void this.#begin();
  }

  stop(): void {
    this.#isStopped = true;
    window.removeEventListener('online', this.#hurry);
    this.#stopListening();
    markRestored(this);
    clearTimeout(this.#timer);
    clearTimeout(this.#staleTimer);
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#flush();
    this.#subscription?.dispose();
    this.#subscription = null;
  }

  /** Fetches the page before the first entry. */
  readonly loadEarlier = async (): Promise<void> => {
    if (this.#snapshot.isLoadingEarlier || !this.#snapshot.hasEarlier) return;
    this.#change({ isLoadingEarlier: true });
    try {
      const page = await this.#fetch(this.#startCursor);
      this.#startCursor = page?.startCursor ?? this.#startCursor;
      const entries = [...(page?.entries ?? []), ...this.#snapshot.entries];
      this.#change({ entries, hasEarlier: page?.hasEarlier ?? false, isLoadingEarlier: false });
    } catch {
      // Fetched again on the next scroll to the top.
      this.#change({ isLoadingEarlier: false });
    }
  };

  readonly #hurry = () => {
    if (this.#snapshot.live !== 'offline') return;
    clearTimeout(this.#timer);
    void this.#begin();
  };

  async #begin(): Promise<void> {
    try {
      if (!this.#snapshot.isLoaded) {
        const page = await this.#fetch(null);
        if (this.#isStopped) return;
        this.#startFrom(page);
      }
    } catch (error) {
      this.#again(error as Error);
      return;
    }
    this.#follow();
  }

  #startFrom(page: TranscriptPage | null): void {
    this.#startCursor = page?.startCursor ?? null;
    this.#endCursor = page?.endCursor ?? null;
    this.#change({ isLoaded: true, entries: page?.entries ?? [], hasEarlier: page?.hasEarlier ?? false });
  }

  #follow(): void {
    if (this.#isStopped) return;
    this.#subscription?.dispose();
    this.#open.expectAgain();
    clearTimeout(this.#staleTimer);
    const settled = window.setTimeout(() => {
      this.#attempt = 0;
      markRestored(this);
      this.#change({ live: 'live' });
      this.#staleTimer = window.setTimeout(() => {
        this.#haveDraftsChanged = this.#open.dropStale() || this.#haveDraftsChanged;
        this.#flush();
      }, staleMs);
    }, 300);
    const broken = (error: Error | null) => {
      clearTimeout(settled);
      this.#again(error);
    };
    const subscription = requestSubscription<transcriptStoreSubscription>(this.#environment, {
      subscription: liveDocument,
      variables: { id: this.#id, after: this.#endCursor },
      onNext: (data) => {
        const item = data?.sessionLive;
        if (item?.__typename === 'SessionEventEdge') {
          this.#endCursor = item.cursor;
          this.#take(readEntry(item.node));
        } else if (item?.__typename === 'Draft') {
          this.#open.take(item as DraftPart);
          this.#haveDraftsChanged = true;
        } else return;
        // Many items may arrive at once: they are rendered together.
        this.#frame ||= requestAnimationFrame(() => {
          this.#frame = 0;
          this.#flush();
        });
      },
      onError: broken,
      onCompleted: () => broken(null),
    });
    this.#subscription = {
      dispose: () => {
        clearTimeout(settled);
        subscription.dispose();
      },
    };
  }

  #again(error: Error | null): void {
    if (this.#isStopped) return;
    if (error instanceof ServiceError && !/LIMIT|HTTP_5|INTERNAL/.test(error.code)) {
      this.#change({ error: error.message, live: 'offline' });
      return;
    }
    markBroken(this);
    this.#change({ live: 'offline' });
    this.#timer = window.setTimeout(() => void this.#begin(), waitBefore(this.#attempt++));
  }

  #take(entry: Entry): void {
    const isOutput = entry.__typename === 'ToolCallEvent';
    // The terminal keeps the whole output, of which the entry may have only the end: it needs the last parts too.
    if (isOutput && isOver(entry) && this.#haveDraftsChanged) this.#flush();
    this.#received.push(entry);
    if (!('draftId' in entry) || entry.draftId == null) return;
    // The output of a tool that still runs stays open.
    if (isOutput && !isOver(entry)) return;
    this.#open.close(entry.draftId);
    this.#haveDraftsChanged = true;
  }

  #flush(): void {
    if (this.#received.length === 0 && !this.#haveDraftsChanged) return;
    if (this.#haveDraftsChanged) this.#drafts = this.#open.list();
    this.#haveDraftsChanged = false;
    const last = this.#snapshot.entries.at(-1)?.seq ?? 0;
    const news = this.#received.filter(({ seq }) => seq > last);
    this.#received = [];
    this.#change(news.length === 0 ? {} : { entries: [...this.#snapshot.entries, ...news] });
  }

  async #fetch(before: string | null): Promise<TranscriptPage | null> {
    const variables = { id: this.#id, last: pageSize, before };
    const found = await fetchQuery<transcriptStorePageQuery>(this.#environment, pageDocument, variables).toPromise();
    const events = found?.session?.events;
    return events ? readTranscriptPage(events) : null;
  }

  #change(changes: Partial<Snapshot>): void {
    // Without changes of its own, the snapshot stays the same object.
    if (Object.keys(changes).length > 0) this.#snapshot = { ...this.#snapshot, ...changes };
    for (const listener of this.#listeners) listener();
  }
}
