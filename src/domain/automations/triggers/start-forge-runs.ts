import type { Transaction } from '../../../store/store.ts';
import type { Services } from '../../context.ts';
import { findOrganizationsUsing } from '../../repositories/resolve-repositories.ts';
import type { Trigger } from '../model/definition.ts';
import { lockForRun, type RunCause } from '../runs/locked-automation.ts';
import { startRun } from '../runs/start-run.ts';
import { eventText } from './event-text.ts';
import { isFollowingForges } from './follow-events.ts';
import { subjectOf, targetOf } from './forge-event.ts';
import type { EventJson } from './match-conditions.ts';
import { type EventMatcher, type MatchCandidate, slowMessage } from './match-events.ts';

/** Number of automations that one transaction looks at, and of runs that it creates. */
const pageSize = 100;
const maxRuns = 20;

/** An event of a repository that waits for automations. */
export interface PendingForgeEvent {
  readonly id: string;
  readonly gitConnectionId: string;
  readonly eventType: string;
  readonly repositoryPath: string;
  readonly digest: string;
  readonly senderId: string | null;
  readonly senderLogin: string | null;
  readonly payload: EventJson;
  readonly lastAutomationId: string;
  readonly attemptCount: number;
  readonly receivedAt: Date;
}

/** The columns of a {@link PendingForgeEvent} of a `forge_event` aliased `e`. */
export const forgeEventColumns = `e.id, e.git_connection_id as "gitConnectionId", e.event_type as "eventType",
  e.repository_path as "repositoryPath", e.digest, e.sender_id as "senderId", e.sender_login as "senderLogin", e.payload,
  e.last_automation_id as "lastAutomationId", e.attempt_count as "attemptCount", e.received_at as "receivedAt"`;

/** The run that is being started, for the record of an unexpected error. */
export interface ForgeRunProgress {
  current: { readonly automationId: string; readonly cause: RunCause } | null;
}

interface Follower {
  readonly automationId: string;
  readonly organizationId: string;
  readonly triggers: readonly Trigger[];
}

/**
 * Starts the runs of the next automations on an event: of those organizations of the connection's enterprise that may use the
 * repository now. The runs, and the position, are one transaction; after the last automation the event is deleted. Returns
 * `busy` if another process has the event, or has finished it.
 */
export async function startForgeRuns(
  services: Services,
  tx: Transaction,
  {
    id,
    matcher,
    progress,
  }: { readonly id: string; readonly matcher: EventMatcher; readonly progress: ForgeRunProgress },
): Promise<'busy' | 'done' | 'more'> {
  const [event] = await tx.query<PendingForgeEvent>(
    `select ${forgeEventColumns} from forge_event e
      where e.id = $1 and e.next_attempt_at is not null for update skip locked`,
    [id],
  );
  if (!event) return 'busy';
  const [connection] = await tx.query<{ host: string; enterpriseId: string }>(
    `select c.host_key as host, c.enterprise_id as "enterpriseId" from git_connection c
      where c.id = $1 and c.deleted_at is null`,
    [event.gitConnectionId],
  );
  const followers = connection ? await findFollowers(tx, connection.enterpriseId, event) : [];
  const where = { host: connection?.host ?? '', path: event.repositoryPath };
  const users = await findOrganizationsUsing(tx, [...new Set(followers.map((each) => each.organizationId))], where);
  const possible = followers.filter(({ organizationId }) => users.has(organizationId));
  const results = matcher.match(possible.map((follower) => candidateOf(follower, event)));
  const matching = possible.filter((_, n) => results[n] !== false);
  const now = matching.slice(0, maxRuns);
  await lockAll(tx, now);
  const cause = causeOf(event, where.host);
  for (const follower of now) await start(services, tx, { follower, event, cause, matcher, progress });
  progress.current = null;
  const last = matching.length > maxRuns ? now.at(-1) : followers.at(-1);
  if (last === undefined || (matching.length <= maxRuns && followers.length < pageSize)) {
    await tx.query('delete from forge_event where id = $1', [id]);
    return 'done';
  }
  await tx.query('update forge_event set last_automation_id = $2 where id = $1', [id, last.automationId]);
  return 'more';
}

function findFollowers(tx: Transaction, enterpriseId: string, event: PendingForgeEvent): Promise<Follower[]> {
  return tx.query<Follower>(
    `select a.id as "automationId", a.organization_id as "organizationId", a.triggers from organization o
       join automation a on a.organization_id = o.id and ${isFollowingForges}
      where o.enterprise_id = $1 and o.deleted_at is null and a.forge_events_since_at <= $2::timestamptz
        and a.triggers @> $3::jsonb and a.id > $4 order by a.id limit ${pageSize}`,
    [enterpriseId, event.receivedAt, JSON.stringify([{ eventType: event.eventType }]), event.lastAutomationId],
  );
}

// Locks all of them before any runs, and in one order: a transaction that has locked a session must not wait for an
// automation.
async function lockAll(tx: Transaction, followers: readonly Follower[]): Promise<void> {
  await tx.query('select a.id from automation a where a.id = any($1::text[]) order by a.id for update', [
    followers.map(({ automationId }) => automationId),
  ]);
}

interface Start {
  readonly follower: Follower;
  readonly event: PendingForgeEvent;
  readonly cause: RunCause;
  readonly matcher: EventMatcher;
  readonly progress: ForgeRunProgress;
}

async function start(services: Services, tx: Transaction, { follower, event, cause, ...rest }: Start): Promise<void> {
  const { automationId } = follower;
  const [exists] = await tx.query('select 1 from automation a where a.id = $1 and a.deleted_at is null', [
    automationId,
  ]);
  if (!exists) return;
  rest.progress.current = { automationId, cause };
  const locked = await lockForRun(tx, automationId);
  // It may have been changed since it was read.
  const { enabled, triggers, organizationId } = locked.automation;
  const [result = false] = enabled
    ? rest.matcher.match([candidateOf({ automationId, organizationId, triggers }, event)])
    : [];
  if (result === false) return;
  await startRun(services, tx, locked, result === true ? cause : { skip: slowMessage(result), ...cause });
}

function candidateOf({ organizationId, automationId, triggers }: Follower, event: PendingForgeEvent): MatchCandidate {
  const conditions = triggers.filter(({ eventType }) => eventType === event.eventType).map((each) => each.conditions);
  return { organizationId, automationId, eventId: event.id, conditions, event: event.payload };
}

// The digest, not the id: a delivery that comes again after its record was deleted starts no second run.
function causeOf(
  { eventType, digest, payload, repositoryPath, senderLogin }: PendingForgeEvent,
  host: string,
): RunCause {
  const repository = `${host}/${repositoryPath}`;
  const heading = `Event in the repository ${repository} (${eventType}).`;
  const action = payload.action ?? (payload.object_attributes as EventJson | undefined)?.action;
  return {
    deliveryKey: `forge:${digest}`,
    trigger: {
      ...{ eventType, ...(typeof action === 'string' ? { action: action.slice(0, 100) } : {}) },
      ...{ sender: senderLogin, repository, ...targetOf(eventType, payload), ...subjectOf(eventType, payload) },
    },
    addition: eventText(heading, JSON.stringify({ event: eventType, ...payload }, null, 2)),
  };
}
