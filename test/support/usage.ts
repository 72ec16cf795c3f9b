import { newId } from '../../src/domain/ids.ts';
import { recordUsage } from '../../src/domain/usage/consumption/ledger.ts';
import type { TestApp } from './app.ts';

/** Writes an entry of the ledger like metering; returns the session's total usage. */
export function use(test: TestApp, sessionId: string, acus: number, usedAt: Date | string): Promise<number> {
  const entry = { sessionId, acus, usedAt: new Date(usedAt) };
  return test.app.services.store.transact((tx) => recordUsage(tx, entry));
}

/** The members of an inserted session; the others are those of an ended session. */
export interface SeededSession {
  readonly organizationId: string;
  readonly createdAt?: Date | string;
  readonly userId?: string | null;
  readonly serviceUserId?: string | null;
  readonly origin?: string;
  readonly playbookId?: string;
  readonly acusConsumed?: number;
  readonly pullRequests?: readonly { url: string; state: string }[];
  readonly status?: string;
  readonly endedBy?: string;
}

/** Inserts a session with a past creation time; returns its unprefixed id. */
export async function seedSession(test: TestApp, seeded: SeededSession): Promise<string> {
  const id = newId();
  const at = new Date(seeded.createdAt ?? Date.now());
  await test.app.services.store.execute(
    `insert into session (id, organization_id, title, is_title_derived, status, origin, prompt, user_id, service_user_id,
                          playbook_id, acus_consumed, pull_requests, tags, created_at, updated_at, ended_by)
     values ($1, $2, $3, false, $4, $5, 'say hello', $6, $7, $8, $9, $10::jsonb, '{}', $11, $11, $12)`,
    [
      id,
      seeded.organizationId,
      `Session ${id}`,
      seeded.status ?? 'exit',
      seeded.origin ?? 'api',
      seeded.userId ?? null,
      seeded.serviceUserId ?? null,
      seeded.playbookId ?? null,
      seeded.acusConsumed ?? 0,
      JSON.stringify(seeded.pullRequests ?? []),
      at,
      seeded.endedBy ?? null,
    ],
  );
  return id;
}

/** Creates a session with one entry of the ledger in an organization of another enterprise. */
export async function seedForeignUsage(
  test: TestApp,
  usedAt: Date | string,
): Promise<{ organizationId: string; sessionId: string; userId: string; serviceUserId: string }> {
  const { store } = test.app.services;
  const [enterpriseId, organizationId, userId, serviceUserId] = [newId(), newId(), newId(), newId()];
  const now = new Date();
  await store.execute(`insert into enterprise (id, name, created_at) values ($1, 'Foreign', $2)`, [enterpriseId, now]);
  await store.execute(
    `insert into organization (id, enterprise_id, name, created_at, updated_at) values ($1, $2, 'Foreign', $3, $3)`,
    [organizationId, enterpriseId, now],
  );
  await store.execute(
    `insert into user_account (id, enterprise_id, email, created_at) values ($1, $2, 'foreign@example.test', $3)`,
    [userId, enterpriseId, now],
  );
  await store.execute(`insert into service_user (id, enterprise_id, name, created_at) values ($1, $2, 'Foreign', $3)`, [
    serviceUserId,
    enterpriseId,
    now,
  ]);
  const sessionId = await seedSession(test, { organizationId, userId, createdAt: usedAt });
  await use(test, sessionId, 1_000, usedAt);
  return { organizationId, sessionId, userId, serviceUserId };
}
