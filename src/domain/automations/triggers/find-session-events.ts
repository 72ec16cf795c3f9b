import type { Transaction } from '../../../store/store.ts';
import type { Services } from '../../context.ts';
import type { FeedEntry } from '../../feeds/read-feed.ts';
import { prefixedId } from '../../ids.ts';
import type { SessionEventName } from '../model/event-types.ts';
import type { EventJson } from './match-conditions.ts';
import { depthsOf, type MessagedSession } from './session-depth.ts';

/** An event in a session, for automations. */
export interface SessionEvent {
  readonly entry: FeedEntry;
  readonly eventType: SessionEventName;
  /** The fields that conditions see, as the schemas list them. */
  readonly fields: EventJson;
  /** Number of automations before it. */
  readonly depth: number;
}

type Status = Readonly<Record<string, unknown>> | null;

/** Returns the event of a session that changes to a status (docs/automations.md#events-of-sessions); null: none. */
export function eventOfStatus(status: Status): SessionEventName | null {
  if (status === null) return null;
  if (status.status === 'error') return 'session:error';
  if (status.status === 'suspended') return 'session:suspended';
  if (status.status === 'exit') {
    if (status.endedBy === 'finished') return 'session:finished';
    return status.endedBy === 'terminated' || status.endedBy === 'expired' ? 'session:terminated' : null;
  }
  const isWaiting = status.statusDetail === 'waiting_for_user' || status.statusDetail === 'waiting_for_approval';
  return status.status === 'running' && isWaiting ? 'session:blocked' : null;
}

/** Returns the event of a log entry of the kind STATUS or PULL_REQUEST; null: none. */
function eventOf({ kind, data }: FeedEntry): SessionEventName | null {
  if (kind === 'STATUS') return eventOfStatus(data);
  if (data?.state === 'merged') return 'session:pull_request_merged';
  return data?.state === 'closed' ? 'session:pull_request_closed' : null;
}

/**
 * Returns the events of these entries of the kinds STATUS and PULL_REQUEST. Unlisted sessions produce none; neither does an entry that
 * leaves the status as it was, because the session was archived or got another question.
 */
export async function findSessionEvents(
  services: Services,
  tx: Transaction,
  entries: readonly FeedEntry[],
  messagedSessions: readonly MessagedSession[],
): Promise<SessionEvent[]> {
  const found = entries.flatMap((entry) => {
    const eventType = entry.isUnlisted ? null : eventOf(entry);
    return eventType === null ? [] : [{ entry, eventType }];
  });
  if (found.length === 0) return [];
  const before = await readBefore(
    tx,
    found.map(({ entry }) => entry).filter(({ kind }) => kind === 'STATUS'),
  );
  const fresh = found.filter(
    ({ entry, eventType }) => entry.kind !== 'STATUS' || eventOfStatus(before.get(entry.id) ?? null) !== eventType,
  );
  const ids = [...new Set(fresh.map(({ entry }) => entry.sessionId))];
  if (ids.length === 0) return [];
  const sessions = await readSessions(tx, ids);
  const depths = await depthsOf(tx, ids, messagedSessions);
  return fresh.flatMap(({ entry, eventType }): SessionEvent[] => {
    const session = sessions.get(entry.sessionId);
    if (!session) return [];
    const fields = fieldsOf(services, session, entry);
    return [{ entry, eventType, fields, depth: depths.get(entry.sessionId) ?? 0 }];
  });
}

/** The status before each entry, by the entry's id. */
async function readBefore(tx: Transaction, entries: readonly FeedEntry[]): Promise<ReadonlyMap<string, Status>> {
  const rows = await tx.query<{ id: string; data: Status }>(
    `select w.id, b.data from unnest($1::text[], $2::text[], $3::int[]) w(id, session_id, seq) cross join lateral (
       select e.data from log_entry e where e.session_id = w.session_id and e.seq < w.seq and e.kind = 'STATUS'
        order by e.seq desc limit 1) b`,
    [entries.map(({ id }) => id), entries.map(({ sessionId }) => sessionId), entries.map(({ seq }) => seq)],
  );
  return new Map(rows.map(({ id, data }) => [id, data]));
}

interface SessionRow {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly statusDetail: string | null;
  readonly tags: readonly string[];
  readonly origin: string;
  readonly automationId: string | null;
  readonly playbookId: string | null;
  readonly parentId: string | null;
  readonly acusConsumed: number;
}

async function readSessions(tx: Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, SessionRow>> {
  const rows = await tx.query<SessionRow>(
    `select s.id, s.title, s.status, s.status_detail as "statusDetail", s.tags, s.origin, s.automation_id as "automationId", s.playbook_id as "playbookId",
            s.parent_id as "parentId", s.acus_consumed as "acusConsumed" from session s where s.id = any($1::text[])`,
    [ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

const idOf = (kind: Parameters<typeof prefixedId>[0], id: string | null) => (id === null ? null : prefixedId(kind, id));

// The fields as REST v3 names them, which conditions of both APIs use.
function fieldsOf(services: Services, session: SessionRow, { kind, data }: FeedEntry): EventJson {
  const isStatus = kind === 'STATUS';
  const status: Status = isStatus ? data : { ...session };
  return {
    'id': prefixedId('session', session.id),
    'title': session.title,
    'url': `${services.baseUrl}/sessions/${session.id}`,
    'tags': session.tags,
    'origin': session.origin,
    'status': status?.status ?? null,
    'detail': status?.statusDetail ?? null,
    'automation_id': idOf('automation', session.automationId),
    'playbook_id': idOf('playbook', session.playbookId),
    'parent_session_id': idOf('session', session.parentId),
    'acus_consumed': session.acusConsumed,
    ...(!isStatus && { 'pull_request_url': typeof data?.url === 'string' ? data.url : null }),
  };
}
