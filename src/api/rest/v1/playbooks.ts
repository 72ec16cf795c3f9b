import { z } from '@hono/zod-openapi';
import type { Context } from '../../../domain/context.ts';
import { findNames } from '../../../domain/identity/people/find-people.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { createPlaybook, deletePlaybook, updatePlaybook } from '../../../domain/library/playbooks/change-playbooks.ts';
import { getPlaybook, listPlaybooks, type PlaybookRecord } from '../../../domain/library/playbooks/playbooks.ts';
import type { VersionApi } from '../version-api.ts';
import { organizationOf, time } from './dialect.ts';
import { batch, streamList } from './list-stream.ts';

const playbookRequest = z
  .object({
    title: z.string().openapi({ minLength: 1 }),
    body: z.string().openapi({ minLength: 1 }),
    macro: z.string().nullish().openapi({ description: '"!" and letters, digits, "_" or "-".' }),
  })
  .openapi('PlaybookRequest');

const playbookResponse = z
  .object({
    playbook_id: z.string(),
    title: z.string(),
    body: z.string(),
    status: z.enum(['published', 'deleted']),
    access_type: z.enum(['team', 'enterprise']).openapi({ description: 'team: the organization’s own.' }),
    org_id: z.string(),
    created_at: z.string().openapi({ format: 'date-time' }),
    updated_at: z.string().openapi({ format: 'date-time' }),
    created_by_user_id: z.string().nullable(),
    created_by_user_name: z.string().nullable(),
    updated_by_user_id: z.string().nullable(),
    updated_by_user_name: z.string().nullable(),
    macro: z.string().nullable(),
  })
  .openapi('PlaybookResponse');

const deletion = z.object({ status: z.literal('success') }).openapi('DeletePlaybookResponse');

const makers = (playbook: PlaybookRecord) => [
  playbook,
  { userId: playbook.updatedByUserId, serviceUserId: playbook.updatedByServiceUserId },
];

// Service users have no user id, and the fields of this version hold users only.
async function presentAll(
  context: Context,
  organizationId: string,
  playbooks: readonly PlaybookRecord[],
): Promise<z.input<typeof playbookResponse>[]> {
  const names = await findNames(context, playbooks.flatMap(makers));
  const nameOf = (id: string | null) => names.get(id ?? '')?.name ?? null;
  const userId = (id: string | null) => (id === null ? null : prefixedId('user', id));
  return playbooks.map((playbook) => ({
    playbook_id: prefixedId('playbook', playbook.id),
    title: playbook.title,
    body: playbook.body,
    status: playbook.deletedAt === null ? 'published' : 'deleted',
    access_type: playbook.organizationId === null ? 'enterprise' : 'team',
    org_id: prefixedId('organization', playbook.organizationId ?? organizationId),
    created_at: time(playbook.createdAt),
    updated_at: time(playbook.updatedAt),
    created_by_user_id: userId(playbook.userId),
    created_by_user_name: nameOf(playbook.userId ?? playbook.serviceUserId),
    updated_by_user_id: userId(playbook.updatedByUserId),
    updated_by_user_name: nameOf(playbook.updatedByUserId ?? playbook.updatedByServiceUserId),
    macro: playbook.macro,
  }));
}

async function present(
  context: Context,
  organizationId: string,
  playbook: PlaybookRecord,
): Promise<z.input<typeof playbookResponse>> {
  const [presented] = await presentAll(context, organizationId, [playbook]);
  if (!presented) throw new Error('One playbook was presented as none.');
  return presented;
}

const collection = '/v1/playbooks';
const one = `${collection}/{playbook_id}` as const;

/** `/v1/playbooks`: the playbooks of the key's organization. */
export function servePlaybooks(api: VersionApi): void {
  serveCollection(api);
  serveOne(api);
}

function serveCollection(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [collection],
      name: 'listPlaybooks',
      successor: 'GET /v3/organizations/{org_id}/playbooks',
      summary: 'List all playbooks of the organization, newest first',
      answer: z.array(playbookResponse),
      refusals: [403, 422],
    },
    async ({ context }) => {
      const organizationId = await organizationOf(context);
      return streamList(context, {
        read: (request) => listPlaybooks(context, { scope: { organizationId }, ...request }, batch),
        present: (playbooks) => presentAll(context, organizationId, playbooks),
        opening: '[',
        closing: ']',
      });
    },
  );

  api.serve(
    {
      method: 'post',
      paths: [collection],
      name: 'createPlaybook',
      successor: 'POST /v3/organizations/{org_id}/playbooks',
      summary: 'Make a playbook',
      body: playbookRequest,
      answer: playbookResponse,
      refusals: [400, 403, 409, 413, 422],
    },
    async ({ context, body }) => {
      const organizationId = await organizationOf(context);
      const { title, body: text, macro } = body;
      return present(
        context,
        organizationId,
        await createPlaybook(context, { organizationId }, { title, body: text, macro }),
      );
    },
  );
}

function serveOne(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [one],
      name: 'getPlaybook',
      successor: 'GET /v3/organizations/{org_id}/playbooks/{playbook_id}',
      summary: 'Read a playbook',
      answer: playbookResponse,
      refusals: [403, 404, 422],
    },
    async ({ context, param }) => {
      const organizationId = await organizationOf(context);
      return present(context, organizationId, await getPlaybook(context, param('playbook_id'), { organizationId }));
    },
  );

  api.serve(
    {
      method: 'put',
      paths: [one],
      name: 'updatePlaybook',
      successor: 'PUT /v3/organizations/{org_id}/playbooks/{playbook_id}',
      summary: 'Change a playbook: a macro that is left out stays, null clears it',
      body: playbookRequest,
      answer: playbookResponse,
      refusals: [400, 403, 404, 409, 413, 422],
    },
    async ({ context, body, param }) => {
      const organizationId = await organizationOf(context);
      const { title, body: text, macro } = body;
      const change = { title, body: text, macro };
      return present(
        context,
        organizationId,
        await updatePlaybook(context, param('playbook_id'), change, { organizationId }),
      );
    },
  );

  api.serve(
    {
      method: 'delete',
      paths: [one],
      name: 'deletePlaybook',
      successor: 'DELETE /v3/organizations/{org_id}/playbooks/{playbook_id}',
      summary: 'Mark a playbook as deleted; its macro is free again',
      answer: deletion,
      refusals: [403, 404, 422],
    },
    async ({ context, param }) => {
      await deletePlaybook(context, param('playbook_id'), { organizationId: await organizationOf(context) });
      return { status: 'success' as const };
    },
  );
}
