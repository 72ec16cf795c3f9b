import { fetchQuery, graphql } from 'react-relay';
import { type IEnvironment, requestSubscription } from 'relay-runtime';
import type { transcriptStorePageQuery } from '../__generated__/transcriptStorePageQuery.graphql.ts';
import type { transcriptStoreSubscription } from '../__generated__/transcriptStoreSubscription.graphql.ts';
import { ServiceError } from '../relay/network.ts';
import { type LiveState, waitBefore } from '../relay/use-live.ts';
import { type Entry, readEntry } from './entry.ts';

/** The number of entries fetched at once. */
const pageSize = 100;

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
        edges {
          cursor
          node {
            ...entry_event
          }
        }
        pageInfo {
          hasPreviousPage
          startCursor
        }
      }
    }
  }
`;

const liveDocument = graphql`
  subscription transcriptStoreSubscription($id: ID!, $after: String) {
    sessionEvents(sessionId: $id, after: $after) {
      cursor
      node {
        ...entry_event
      }
    }
  }
`;

/**
 * The log of a session, from its end: the last page, earlier pages on request, and new entries as they arrive. After a
 * break it resumes at the last cursor, without gaps or duplicates.
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
  #frame = 0;
  #timer = 0;
  #attempt = 0;
  #isStopped = true;
  #open: { dispose(): void } | null = null;

  constructor(environment: IEnvironment, id: string) {
    this.#environment = environment;
    this.#id = id;
  }

  readonly snapshot = (): Snapshot => this.#snapshot;

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  start(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    window.addEventListener('online', this.#hurry);
    void this.#begin();
  }

  stop(): void {
    this.#isStopped = true;
    window.removeEventListener('online', this.#hurry);
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#flush();
    this.#open?.dispose();
    this.#open = null;
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
        this.#startCursor = page?.startCursor ?? null;
        this.#endCursor = page?.endCursor ?? null;
        this.#change({ isLoaded: true, entries: page?.entries ?? [], hasEarlier: page?.hasEarlier ?? false });
      }
    } catch (error) {
      this.#again(error as Error);
      return;
    }
    this.#follow();
  }

  #follow(): void {
    if (this.#isStopped) return;
    this.#open?.dispose();
    const settled = window.setTimeout(() => {
      this.#attempt = 0;
      this.#change({ live: 'live' });
    }, 300);
    const broken = (error: Error | null) => {
      clearTimeout(settled);
      this.#again(error);
    };
    const subscription = requestSubscription<transcriptStoreSubscription>(this.#environment, {
      subscription: liveDocument,
      variables: { id: this.#id, after: this.#endCursor },
      onNext: (data) => {
        if (!data?.sessionEvents) return;
        const { cursor, node } = data.sessionEvents;
        this.#endCursor = cursor;
        this.#received.push(readEntry(node));
        // Many entries may arrive at once: they are rendered together.
        this.#frame ||= requestAnimationFrame(() => {
          this.#frame = 0;
          this.#flush();
        });
      },
      onError: broken,
      onCompleted: () => broken(null),
    });
    this.#open = {
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
    this.#change({ live: 'offline' });
    this.#timer = window.setTimeout(() => void this.#begin(), waitBefore(this.#attempt++));
  }

  #flush(): void {
    if (this.#received.length === 0) return;
    const last = this.#snapshot.entries.at(-1)?.seq ?? 0;
    const entries = [...this.#snapshot.entries, ...this.#received.filter(({ seq }) => seq > last)];
    this.#received = [];
    this.#change({ entries });
  }

  async #fetch(before: string | null) {
    const variables = { id: this.#id, last: pageSize, before };
    const found = await fetchQuery<transcriptStorePageQuery>(this.#environment, pageDocument, variables).toPromise();
    const events = found?.session?.events;
    if (!events) return null;
    return {
      entries: events.edges.map(({ node }) => readEntry(node)),
      hasEarlier: events.pageInfo.hasPreviousPage,
      startCursor: events.pageInfo.startCursor,
      endCursor: events.edges.at(-1)?.cursor ?? null,
    };
  }

  #change(changes: Partial<Snapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...changes };
    for (const listener of this.#listeners) listener();
  }
}
