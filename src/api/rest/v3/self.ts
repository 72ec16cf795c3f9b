import { z } from '@hono/zod-openapi';
import type { Viewer } from '../../../auth/viewer.ts';
import { prefixedId } from '../../../domain/ids.ts';
import type { VersionApi } from '../version-api.ts';

const serviceUser = z.object({
  principal_type: z.literal('service_user'),
  service_user_id: z.string(),
  service_user_name: z.string(),
  org_id: z.string().nullable(),
});

const patUser = z.object({
  principal_type: z.literal('pat_user'),
  user_id: z.string(),
  user_name: z.string(),
  api_key_id: z.string(),
  api_key_name: z.string(),
  org_id: z.string().nullable(),
});

const self = z.union([serviceUser, patUser]).openapi('Self');

/** `GET /v3/self`: describes the caller's key. Any key of this version may call it. */
export function serveSelf(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: ['/v3/self'],
      name: 'getSelf',
      summary: 'Who the key belongs to',
      answer: self,
      refusals: [],
    },
    async ({ context }) => presentSelf(context.viewer),
  );
}

function presentSelf(viewer: Viewer): z.input<typeof self> {
  const { principal } = viewer;
  const organization = homeOf(viewer);
  const home = { org_id: organization === null ? null : prefixedId('organization', organization) };
  if (principal.type === 'SERVICE_USER') {
    const id = prefixedId('serviceUser', principal.id);
    return { principal_type: 'service_user', service_user_id: id, service_user_name: principal.name, ...home };
  }
  if (principal.type !== 'USER') throw new Error(`A principal of type ${principal.type} has no key of this version.`);
  return {
    principal_type: 'pat_user',
    user_id: prefixedId('user', principal.id),
    user_name: principal.name ?? principal.email,
    api_key_id: prefixedId('apiKey', viewer.apiKeyId ?? ''),
    api_key_name: viewer.apiKeyName ?? '',
    ...home,
  };
}

// A personal token is bound to no organization, but clients read here which organization to put into their paths.
function homeOf(viewer: Viewer): string | null {
  if (viewer.homeOrganizationId !== null || viewer.everywhere.size > 0) return viewer.homeOrganizationId;
  const [only, ...others] = viewer.organizations.keys();
  return only !== undefined && others.length === 0 ? only : null;
}
