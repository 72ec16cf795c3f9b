import { randomUUID } from 'node:crypto';
import { vi } from 'vitest';
import type { TestApp } from './app.ts';
import { ann } from './forge-events.ts';

const repository = { id: 1, name: 'site', 'full_name': 'acme/site', 'default_branch': 'main', private: true };
let ids = 1_000;

/** The JSON of GitHub's event about a new comment on an issue of `acme/site`; `issue` and `change` replace members. */
export function commented(body: string, issue: Record<string, unknown> = {}, change: Record<string, unknown> = {}) {
  ids += 1;
  const html = 'https://github.com/acme/site/issues/7';
  return {
    action: 'created',
    issue: { number: 7, title: 'The login fails', body: 'Nobody can log in.', 'html_url': html, user: ann, ...issue },
    comment: { id: ids, body, 'html_url': `${html}#issuecomment-${ids}`, user: ann },
    repository,
    sender: ann,
    nonce: randomUUID(),
    ...change,
  };
}

/** A mention with its session, as it is stored. */
export interface SeenMention {
  readonly status: string;
  readonly sessionId: string | null;
  readonly organizationId: string | null;
  readonly error: string | null;
}

/** Returns the mentions of a service, the oldest first, after all have been processed. */
export async function settledMentions(test: TestApp): Promise<SeenMention[]> {
  const { store } = test.app.services;
  await vi.waitUntil(
    async () => (await store.query('select 1 from mention where next_attempt_at is not null limit 1')).length === 0,
    { timeout: 60_000 },
  );
  return store.query<SeenMention>(
    `select status, session_id as "sessionId", organization_id as "organizationId", error
       from mention order by created_at, id`,
  );
}
