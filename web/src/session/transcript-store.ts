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

/** A part of a log, by one of its ends. */
type Part =
  | { readonly first: number; readonly after: string | null }
  | { readonly last: number; readonly before: string | null };

/** An immutable state of the transcript; each change creates a new one. */
export interface Snapshot {
  /** In log order, without gaps and duplicates. */
  readonly entries: readonly Entry[];
  /** True if the log has earlier entries. */
  readonly hasEarlier: boolean;
  readonly isLoadingEarlier: boolean;
  /** True if the log has later entries, which are not followed: the user has jumped to an earlier part of it. */
  readonly hasLater: boolean;
  readonly isLoadingLater: boolean;
  /** True once a part of the log has been read. */
  readonly isLoaded: boolean;
  readonly live: LiveState;
  /** The reason why the log cannot be read, if a retry would not help. */
  readonly error: string | null;
}

const pageDocument = graphql`
  query transcriptStorePageQuery($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    session(id: $id) {
      events(first: $first, after: $after, last: $last, before: $before) {
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
    hasLater: false,
    isLoadingLater: false,
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
  #open = new OpenDrafts();
  #drafts: readonly Draft[] = [];
  #haveDraftsChanged = false;
  #staleTimer = 0;
  #frame = 0;
  #timer = 0;
  #attempt = 0;
  #isStopped = true;
  readonly #cursors = new Map<number, string>();
  /** Counts the parts of the log that were opened: a page that belongs to another part is dropped. */
  #part = 0;
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
    const part = this.#part;
    try {
      const page = await this.#fetch({ last: pageSize, before: this.#startCursor });
      if (part !== this.#part) return;
      this.#startCursor = page?.startCursor ?? this.#startCursor;
      const entries = [...(page?.entries ?? []), ...this.#snapshot.entries];
      this.#change({ entries, hasEarlier: page?.hasEarlier ?? false, isLoadingEarlier: false });
    } catch {
      // Fetched again on the next scroll to the top.
      if (part === this.#part) this.#change({ isLoadingEarlier: false });
    }
  };

  /** Fetches the page after the last entry, and follows the log again at its end. */
  readonly loadLater = async (): Promise<void> => {
    if (this.#snapshot.isLoadingLater || !this.#snapshot.hasLater) return;
    this.#change({ isLoadingLater: true });
    const part = this.#part;
    try {
      const page = await this.#fetch({ first: pageSize, after: this.#endCursor });
      if (part !== this.#part) return;
      this.#endCursor = page?.endCursor ?? this.#endCursor;
      const entries = [...this.#snapshot.entries, ...(page?.entries ?? [])];
      this.#change({ entries, hasLater: page?.hasLater ?? false, isLoadingLater: false });
      if (!this.#snapshot.hasLater) this.#follow();
    } catch {
      // Fetched again on the next scroll to the bottom.
      if (part === this.#part) this.#change({ isLoadingLater: false });
    }
  };

  /** The cursor of a loaded entry, by its number in the log. */
  readonly cursorAt = (seq: number): string | null => this.#cursors.get(seq) ?? null;

  /**
   * Shows the part of the log that begins at the entry with this cursor; null: at the first one. Resolves to the number of the
   * entry; null: there is none, or it cannot be read. Does nothing if it is loaded.
   */
  readonly openAt = async (cursor: string | null): Promise<number | null> => {
    // A call before this one may still be fetching another part.
    const part = ++this.#part;
    try {
      const [first] = this.#snapshot.entries;
      if (cursor === null && !this.#snapshot.hasEarlier) return first?.seq ?? null;
      const isLoaded = (seq: number) => this.#snapshot.entries.some((entry) => entry.seq === seq);
      for (const [seq, known] of this.#cursors) if (known === cursor && isLoaded(seq)) return seq;
      // A page begins after an entry: here after the one before.
      const before = cursor === null ? null : await this.#fetch({ last: 1, before: cursor });
      const page = await this.#fetch({ first: pageSize, after: before?.endCursor ?? null });
      const seq = page?.entries[0]?.seq;
      if (part !== this.#part || page === null || seq === undefined) return null;
      this.#pause();
      this.#startFrom({ ...page, hasEarlier: before?.endCursor != null });
      if (!page.hasLater) this.#follow();
      return seq;
    } catch {
      return null;
    } finally {
      if (part === this.#part) this.#change({ isLoadingEarlier: false, isLoadingLater: false });
    }
  };

  /** Returns to the end of the log. */
  readonly openEnd = async (): Promise<void> => {
    const part = ++this.#part;
    const isAtEnd = !this.#snapshot.hasLater;
    const page = isAtEnd ? null : await this.#fetch({ last: pageSize, before: null }).catch(() => null);
    if (part !== this.#part) return;
    this.#change({ isLoadingEarlier: false, isLoadingLater: false });
    if (page === null) return;
    this.#startFrom(page);
    this.#follow();
  };

  /** Ends the subscription: entries and drafts of the end do not belong to the part that is shown. */
  #pause(): void {
    this.#subscription?.dispose();
    this.#subscription = null;
    clearTimeout(this.#timer);
    clearTimeout(this.#staleTimer);
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#received = [];
    this.#open = new OpenDrafts();
    this.#drafts = [];
    this.#haveDraftsChanged = false;
    markRestored(this);
    this.#change({ live: 'live' });
  }

  readonly #hurry = () => {
    if (this.#snapshot.live !== 'offline') return;
    clearTimeout(this.#timer);
    void this.#begin();
  };

  async #begin(): Promise<void> {
    try {
      if (!this.#snapshot.isLoaded) {
        const page = await this.#fetch({ last: pageSize, before: null });
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
    const { entries = [], hasEarlier = false, hasLater = false, cursors = [] } = page ?? {};
    for (const [seq, cursor] of cursors) this.#cursors.set(seq, cursor);
    this.#change({ isLoaded: true, entries, hasEarlier, hasLater });
  }

  #follow(): void {
    if (this.#isStopped || this.#snapshot.hasLater) return;
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
          const entry = readEntry(item.node);
          this.#cursors.set(entry.seq, item.cursor);
          this.#take(entry);
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
    // Drafts from before a break that belong to an earlier turn will not be sent again.
    if (entry.__typename === 'TurnEvent') this.#haveDraftsChanged = this.#open.dropStale() || this.#haveDraftsChanged;
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

  async #fetch(part: Part): Promise<TranscriptPage | null> {
    const variables = { id: this.#id, ...part };
    const found = await fetchQuery<transcriptStorePageQuery>(this.#environment, pageDocument, variables).toPromise();
    const events = found?.session?.events;
    if (!events) return null;
    const page = readTranscriptPage(events);
    for (const [seq, cursor] of page.cursors) this.#cursors.set(seq, cursor);
    return page;
  }

  #change(changes: Partial<Snapshot>): void {
    // Without changes of its own, the snapshot stays the same object.
    if (Object.keys(changes).length > 0) this.#snapshot = { ...this.#snapshot, ...changes };
    for (const listener of this.#listeners) listener();
  }
}
