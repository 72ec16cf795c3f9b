import { z } from '@hono/zod-openapi';
import type { Context } from '../../../domain/context.ts';
import { listRoles } from '../../../domain/identity/people/list-roles.ts';
import type { RoleRecord } from '../../../domain/identity/people/roles.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { streamJson } from '../json-stream.ts';
import type { VersionApi } from '../version-api.ts';
import { requireAdministratorKey } from './dialect.ts';

const role = z
  .object({ role_id: z.string(), role_name: z.string(), role_type: z.enum(['account', 'org']) })
  .openapi('Role');

const batch = { max: 200, default: 200 } as const;

function presentRole(record: RoleRecord): z.input<typeof role> {
  return {
    role_id: prefixedId('role', record.id),
    role_name: record.name,
    role_type: record.scope === 'organization' ? 'org' : 'account',
  };
}

async function* roleBatches(context: Context): AsyncGenerator<string, undefined> {
  let after: string | null = null;
  for (;;) {
    const page: Awaited<ReturnType<typeof listRoles>> = await listRoles(context, { after }, batch);
    const last = page.items.at(-1);
    if (last) yield page.items.map((each) => JSON.stringify(presentRole(each))).join(',');
    if (!page.hasNextPage || !last) return undefined;
    after = page.cursorOf(last);
  }
}

/** `/v2/enterprise/roles`: for personal keys of administrators. The list has no pages and is streamed in batches. */
export function serveRoles(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: ['/v2/enterprise/roles'],
      name: 'listRoles',
      successor: 'GET /v3/enterprise/roles',
      summary: 'List the roles of the enterprise, its own and the built-in ones',
      answer: z.array(role),
      refusals: [403],
    },
    async ({ context }) => {
      requireAdministratorKey(context, 'personal');
      return streamJson(context, { opening: '[', batches: roleBatches(context), closing: ']' });
    },
  );
}
