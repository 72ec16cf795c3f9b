import { newId, parseId } from '../../src/domain/ids.ts';
import type { TestApp } from './app.ts';

/** An entry that a test inserts. Omitted members are null, and the time is now. Ids are unprefixed. */
export interface SeededEntry {
  readonly action: string;
  readonly organizationId?: string | null;
  readonly enterpriseId?: string;
  readonly userId?: string;
  readonly serviceUserId?: string;
  readonly apiKeyId?: string;
  readonly targetId?: string;
  readonly createdAt?: Date;
}

/** Inserts entries in one statement, as if actions had written them; returns their unprefixed ids in the same order. */
export async function seedAuditEntries(test: TestApp, entries: readonly SeededEntry[]): Promise<string[]> {
  const { enterpriseId } = test.app.installation;
  const rows = entries.map((entry) => ({
    'enterprise_id': enterpriseId,
    ...columnsOf(entry),
    id: newId(),
    'created_at': (entry.createdAt ?? new Date()).toISOString(),
  }));
  await test.app.services.store.execute(
    `insert into audit_entry (id, enterprise_id, organization_id, action, user_id, service_user_id, api_key_id, target_id, created_at)
     select id, enterprise_id, organization_id, action, user_id, service_user_id, api_key_id, target_id, created_at
       from json_populate_recordset(null::audit_entry, $1::json)`,
    [JSON.stringify(rows)],
  );
  return rows.map(({ id }) => id);
}

function columnsOf({ action, organizationId, enterpriseId, userId, serviceUserId, apiKeyId, targetId }: SeededEntry) {
  return {
    action,
    'organization_id': organizationId ? parseId('organization', organizationId) : null,
    ...(enterpriseId === undefined ? {} : { 'enterprise_id': enterpriseId }),
    'user_id': userId ?? null,
    'service_user_id': serviceUserId ?? null,
    'api_key_id': apiKeyId ?? null,
    'target_id': targetId ?? null,
  };
}
