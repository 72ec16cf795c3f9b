import { z } from '@hono/zod-openapi';
import { deletePlaybook } from '../../../domain/library/playbooks/change-playbooks.ts';
import type { VersionApi } from '../version-api.ts';
import { requireAdministratorKey } from './dialect.ts';

const done = z.object({ status: z.string() }).openapi('Status');

/** `/v2/enterprise/playbooks/{playbook_id}`: playbooks of the enterprise and of all its organizations. */
export function servePlaybooks(api: VersionApi): void {
  api.serve(
    {
      method: 'delete',
      paths: ['/v2/enterprise/playbooks/{playbook_id}'],
      name: 'deletePlaybook',
      successor: 'DELETE /v3/enterprise/playbooks/{playbook_id}',
      summary: 'Mark a playbook as deleted; its macro is free again',
      answer: done,
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      requireAdministratorKey(context, 'personal or enterprise service');
      await deletePlaybook(context, param('playbook_id'), 'enterprise');
      return { status: 'success' };
    },
  );
}
