import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith, type Viewer } from '../../auth/viewer.ts';
import type { Batch, LogCheck, LogSource } from '../../realtime/log-source.ts';
import type { Store } from '../../store/store.ts';
import { findVisibleSessions } from './find-session.ts';
import type { SessionRecord } from './session.ts';
import type { TailedSession } from './session-check.ts';

type VisibleOrganizations = ReturnType<typeof organizationsWith>;

/** The state of a session, for viewers who may see the same organizations. */
export interface SessionState extends TailedSession {
  readonly visible: VisibleOrganizations;
  /** The same for the same organizations. */
  readonly visibleKey: string;
}

/** The session as it was read. A state has no earlier items, so that there is one cursor, null. */
export interface StateBatch extends Batch<null> {
  readonly items: readonly [SessionRecord];
}

/** Reads the states of sessions. */
export type SessionStateSource = LogSource<SessionState, null, StateBatch>;

// Viewers are immutable: a change creates a new viewer.
const visibleOf = new WeakMap<Viewer, Pick<SessionState, 'visible' | 'visibleKey'>>();

/** The state of a session by its unprefixed id, as a viewer may see it. */
export function sessionState(viewer: Viewer, sessionId: string): SessionState {
  let known = visibleOf.get(viewer);
  if (known === undefined) {
    const visible = organizationsWith(viewer, permissionFor.viewSession);
    known = { visible, visibleKey: JSON.stringify(visible) };
    visibleOf.set(viewer, known);
  }
  return { key: `${sessionId}|${known.visibleKey}`, topics: [`session:${sessionId}`], sessionId, ...known };
}

/** Reads the states of many sessions in one statement; null for those that may not be seen. */
export function createSessionStateSource(store: Store, check: LogCheck<TailedSession>): SessionStateSource {
  return {
    limits: { first: 1, max: 1 },
    maxRequests: 100,
    maxReads: 2,
    stuckMs: 1_000,
    check,
    cursorKey: String,
    groupKey: ({ visibleKey }) => visibleKey,
    gapMs: () => 0,
    async read(requests) {
      const [first] = requests;
      if (first === undefined) return [];
      const ids = requests.map(({ log }) => log.sessionId);
      const sessions = await findVisibleSessions({ store }, ids, first.log.visible);
      return sessions.map((session) => session && { items: [session], cursor: null, hasMore: false });
    },
  };
}
