import type { ForgeDelivery } from '../../../forges/interface/events.ts';
import type { ForgeKind } from '../../../forges/interface/forge.ts';
import type { Row } from '../../../store/tables.ts';
import type { Services } from '../../context.ts';
import { isFollowingForges } from './follow-events.ts';
import { forgeEventType } from './forge-event.ts';
import { reducePayload } from './reduce-payload.ts';

/** The stored delivery of an event. */
interface StoredDelivery extends Pick<Row<'GitDelivery'>, 'id' | 'gitConnectionId' | 'digest' | 'receivedAt'> {
  /** The kind of its connection. */
  readonly kind: ForgeKind;
}

/** Returns the event of a verified delivery to store for automations; null: no automation of the enterprise has a trigger on it. */
export async function findWantedEvent(
  { store }: Pick<Services, 'store'>,
  { id, gitConnectionId, digest, receivedAt, kind }: StoredDelivery,
  delivery: ForgeDelivery,
): Promise<Row<'ForgeEvent'> | null> {
  const eventType = forgeEventType(kind, delivery);
  const { repository, sender, payload } = delivery;
  if (eventType === null || repository === null) return null;
  const [wanted] = await store.query(
    `select 1 from git_connection c
       join organization o on o.enterprise_id = c.enterprise_id and o.deleted_at is null
       join automation a on a.organization_id = o.id and ${isFollowingForges}
      where c.id = $1 and a.triggers @> $2::jsonb limit 1`,
    [gitConnectionId, JSON.stringify([{ eventType }])],
  );
  if (!wanted) return null;
  return {
    ...{ id, gitConnectionId, eventType, repositoryPath: repository, digest },
    ...{ senderId: sender?.id ?? null, senderLogin: sender?.login ?? null, payload: reducePayload(payload) },
    ...{ lastAutomationId: '', attemptCount: 0, error: null, nextAttemptAt: receivedAt, receivedAt },
  } as Row<'ForgeEvent'>;
}
