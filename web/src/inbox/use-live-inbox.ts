import { useCallback, useEffect, useMemo, useRef } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import { commitLocalUpdate, type IEnvironment } from 'relay-runtime';
import type { inboxQuery } from '../__generated__/inboxQuery.graphql.ts';
import type { useLiveInboxCountsQuery } from '../__generated__/useLiveInboxCountsQuery.graphql.ts';
import type { useLiveInboxSubscription } from '../__generated__/useLiveInboxSubscription.graphql.ts';
import { useLive } from '../relay/use-live.ts';
import { inboxDocument } from './inbox-query.ts';
import { type InboxOf, inboxGroups } from './inbox-scope.ts';
import { connectionOf, moveRow } from './move-row.ts';

const countsDocument = graphql`
  query useLiveInboxCountsQuery(
    $id: ID!
    $needsYou: SessionFilter!
    $pinned: SessionFilter!
    $working: SessionFilter!
    $done: SessionFilter!
    $hasMarks: Boolean!
  ) @throwOnFieldError {
    organization(id: $id) {
      needsYou: sessions(first: 1, filter: $needsYou) {
        totalCount
      }
      pinned: sessions(first: 1, filter: $pinned) @include(if: $hasMarks) {
        totalCount
      }
      working: sessions(first: 1, filter: $working) {
        totalCount
      }
      done: sessions(first: 1, filter: $done) {
        totalCount
      }
    }
  }
`;

/** The interval in ms at which the counts are read at most. */
const countEveryMs = 1_000;
/** A change that arrives within this time after the counts were read, in ms, may be in them already. */
const lagMs = 5_000;
/** The most rows of a group that are read again after a break of the connection. */
const maxRead = 100;
/** The most sessions whose last group is remembered. */
const maxKnown = 1_000;

/** A session that started to need a person. */
export interface NewlyNeeding {
  readonly sessionId: string;
  readonly title: string | null | undefined;
  readonly status: string;
  readonly statusDetail: string | null | undefined;
}

/**
 * Keeps the inbox up to date with one subscription. `cursor`: that of the changes which its first rows include. `onNeed` is
 * called for each session that starts to need a person while the page is open.
 */
export function useLiveInbox(inbox: InboxOf, cursor: string, onNeed: (session: NewlyNeeding) => void): void {
  const environment = useRelayEnvironment();
  const { id, needsYou } = inbox.variables;
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows that are read again have a later cursor, which is not needed.
  const variables = useMemo(() => {
    // All groups: without the condition that makes it one of them.
    const { group: _, ...filter } = needsYou;
    return { id, filter, after: cursor };
  }, [id, needsYou]);
  const { recountSoon, noteChange } = useCounts(environment, inbox);
  const known = useRef(new Map<string, string>());
  useLive<useLiveInboxSubscription>({
    subscription: graphql`
      subscription useLiveInboxSubscription($id: ID!, $filter: SessionFilter, $after: String) {
        sessionChanges(organizationId: $id, filter: $filter, after: $after) {
          type
          sessionId
          session {
            sessionId
            group
            title
            status
            statusDetail
            ...inboxRow_session
          }
        }
      }
    `,
    variables,
    updater: (store, data) => {
      const change = data?.sessionChanges;
      if (!change) return;
      noteChange();
      const { sessionId, session, type } = change;
      const record = store.getRootField('sessionChanges')?.getLinkedRecord('session') ?? null;
      const isGone = type === 'LEFT' || type === 'REMOVED';
      const before = moveRow(store, inbox, sessionId, isGone ? null : record, type === 'ADDED');
      const last = known.current.get(sessionId);
      if (before === null && (isGone || last !== session?.group)) recountSoon();
      remember(known.current, sessionId, isGone ? undefined : session?.group);
      if (isGone || session?.group !== 'NEEDS_YOU' || before === 'needsYou' || last === 'NEEDS_YOU') return;
      // A session below the loaded rows may have needed a person before.
      if (before !== null || last !== undefined || type === 'ADDED') onNeed(session);
    },
    onBack: () => void readAgain(environment, inbox),
  });
}

function remember(known: Map<string, string>, sessionId: string, group: string | undefined): void {
  known.delete(sessionId);
  if (group !== undefined) known.set(sessionId, group);
  const [oldest] = known.keys();
  if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
}

/** Reads all groups again, with as many rows as are loaded. */
async function readAgain(environment: IEnvironment, inbox: InboxOf): Promise<void> {
  let loaded = 0;
  commitLocalUpdate(environment, (store) => {
    for (const group of inboxGroups) {
      loaded = Math.max(loaded, store.get(connectionOf(inbox, group))?.getLinkedRecords('edges')?.length ?? 0);
    }
  });
  const count = Math.min(maxRead, Math.max(25, loaded));
  const variables = { ...inbox.variables, count };
  // The rows stay if they cannot be read; the banner of the connection says that they may be out of date.
  await fetchQuery<inboxQuery>(environment, inboxDocument, variables, { fetchPolicy: 'network-only' })
    .toPromise()
    .catch(() => undefined);
}

interface Counts {
  /** Reads the sizes of the groups soon, together with the next changes. */
  readonly recountSoon: () => void;
  /**
   * Notes a change. Sizes that are being read may be older than it, and are read again. So are those that were just read: they may have
   * counted it before, and it is then counted twice.
   */
  readonly noteChange: () => void;
}

function useCounts(environment: IEnvironment, inbox: InboxOf): Counts {
  const timer = useRef(0);
  const changes = useRef(0);
  const countedAt = useRef(Number.NEGATIVE_INFINITY);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the counts of another inbox are read with its rows.
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = 0;
    },
    [inbox],
  );
  const recountSoon = useCallback(() => {
    if (timer.current !== 0) return;
    timer.current = window.setTimeout(async () => {
      timer.current = 0;
      const before = changes.current;
      const isCurrent = () => before === changes.current;
      await recount(environment, inbox, isCurrent);
      if (isCurrent()) countedAt.current = performance.now();
      else recountSoon();
    }, countEveryMs);
  }, [environment, inbox]);
  const noteChange = useCallback(() => {
    changes.current++;
    if (performance.now() - countedAt.current < lagMs) recountSoon();
  }, [recountSoon]);
  return { recountSoon, noteChange };
}

async function recount(environment: IEnvironment, inbox: InboxOf, isCurrent: () => boolean): Promise<void> {
  const found = await fetchQuery<useLiveInboxCountsQuery>(environment, countsDocument, inbox.variables, {
    fetchPolicy: 'network-only',
  })
    .toPromise()
    .catch(() => undefined);
  const organization = found?.organization;
  if (!organization || !isCurrent()) return;
  commitLocalUpdate(environment, (store) => {
    for (const group of inboxGroups) {
      const count = organization[group]?.totalCount;
      if (count !== undefined) store.get(connectionOf(inbox, group))?.setValue(count, 'totalCount');
    }
  });
}
