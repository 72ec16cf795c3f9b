import { z } from '@hono/zod-openapi';
import { type EnterprisePermission, type OrganizationPermission, permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { DomainError, notFound } from '../../../common/errors.ts';
import type { Context } from '../../../domain/context.ts';
import { useEnterpriseOrganization } from '../../../domain/identity/organizations/use-enterprise-organization.ts';
import { useOrganization } from '../../../domain/identity/organizations/use-organization.ts';
import { pageWindow, toPage } from '../../../domain/pages.ts';
import { textParam } from '../query.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage } from './dialect.ts';

/**
 * Stands in for a feature that Switchyard does not have: limits for groups of
 * organizations, hypervisors, guardrails, and repository indexing.
 * Clients get the responses of an installation where the feature is not set up: permissions are checked, lists are
 * empty, single resources are missing, and setting the feature up is refused with a sentence.
 */
interface Feature {
  /** The resource that the 404 says does not exist. */
  readonly resourceName: string;
  /** The message for a refused write. */
  readonly without: string;
}

const groupLimits: Feature = {
  resourceName: 'limit of organization groups',
  without: 'This installation has no organization groups.',
};
const hypervisors: Feature = { resourceName: 'hypervisor', without: 'This installation has no hypervisors.' };
const guardrails: Feature = { resourceName: 'guardrail', without: 'This installation has no guardrails.' };
const repositories: Feature = { resourceName: 'repository', without: 'This installation does not index repositories.' };

/** Reads: an empty page; for a single resource, 404. Writes: a refusal. */
type Answer = 'page' | 'missing' | 'refused';
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

interface Row {
  readonly path: string;
  readonly feature: Feature;
  /** The permission: in the organization if the path names one, otherwise in the enterprise. */
  readonly needs: OrganizationPermission | EnterprisePermission;
  readonly answers: Partial<Record<Method, Answer>>;
  /** The permission for writes, if it differs. */
  readonly writing?: OrganizationPermission | EnterprisePermission;
  readonly bodies?: Partial<Record<Method, z.ZodType>>;
  /** Query parameters of the page besides `first` and `after`: they do not change the empty result. */
  readonly filters?: readonly string[];
}

/** Every path of such a feature, with its answer (docs/wire/v3.md#features-that-there-are-not). */
const rows: readonly Row[] = [
  {
    path: '/v3/enterprise/org-group-limits',
    feature: groupLimits,
    needs: permissionFor.updateOrganization,
    answers: { get: 'missing', put: 'missing' },
    bodies: { put: z.object({ groups: z.record(z.string(), z.unknown()) }) },
  },
  {
    path: '/v3/enterprise/hypervisors',
    feature: hypervisors,
    needs: permissionFor.viewEnterpriseMetrics,
    answers: { get: 'page' },
    filters: ['status'],
  },
  {
    path: '/v3beta1/enterprise/guardrail-violations',
    feature: guardrails,
    needs: permissionFor.viewAuditLog,
    answers: { get: 'page' },
  },
  {
    path: '/v3beta1/enterprise/organizations/{org_id}/guardrail-violations',
    feature: guardrails,
    needs: permissionFor.viewAuditLog,
    answers: { get: 'page' },
  },
  {
    path: '/v3beta1/organizations/{org_id}/repositories/indexing',
    feature: repositories,
    needs: permissionFor.viewSession,
    writing: permissionFor.changeKnowledge,
    answers: { get: 'page', put: 'refused', delete: 'refused' },
  },
  {
    path: '/v3beta1/organizations/{org_id}/repositories/{path}/indexing',
    feature: repositories,
    needs: permissionFor.viewSession,
    writing: permissionFor.changeKnowledge,
    answers: { get: 'missing', put: 'missing', delete: 'missing' },
  },
  {
    path: '/v3beta1/organizations/{org_id}/repositories/{path}/indexing/branches/{branch_name}',
    feature: repositories,
    needs: permissionFor.changeKnowledge,
    answers: { delete: 'missing' },
  },
];

const nothing = z.record(z.string(), z.unknown()).openapi({ description: 'There is none of these.' });
const emptyPage = pageOf(nothing);

/** Serves every route of a feature that Switchyard does not have. */
export function serveWithoutFeature(api: VersionApi): void {
  for (const row of rows) {
    for (const [method, answer] of Object.entries(row.answers) as [Method, Answer][])
      serveRow(api, row, method, answer);
  }
}

function serveRow(api: VersionApi, row: Row, method: Method, answer: Answer): void {
  const { path, feature } = row;
  const body = row.bodies?.[method];
  const filters = (row.filters ?? []).map((name) => [name, textParam(name, { description: 'Changes nothing.' })]);
  const isPage = answer === 'page';
  const permission = method === 'get' ? row.needs : (row.writing ?? row.needs);
  const refusals = [403, 404, ...(body ? [400, 413, 422] : []), ...(answer === 'refused' ? [409] : [])];
  api.serve(
    {
      method,
      paths: [path as `/${string}`],
      name: nameOf(method, path),
      summary: `${feature.without} ${says[answer]}`,
      query: z.object(isPage ? { ...pageQuery, ...Object.fromEntries(filters) } : {}),
      ...(body ? { body } : {}),
      // An endpoint that only refuses never shows its success response.
      answer: isPage ? emptyPage : nothing,
      refusals: isPage ? [...refusals, 422] : refusals,
    },
    async ({ context, query, param }) => {
      await checkScope(context, path, permission, param('org_id'));
      if (answer === 'missing') throw notFound(feature.resourceName);
      if (answer === 'refused') throw new DomainError('INVALID_STATE', feature.without);
      // A list without items issues no cursors, so any cursor belongs to another list.
      const window = pageWindow(query, page, () => null);
      return presentPage(toPage<null, never>([], window, String), (item) => item);
    },
  );
}

const says = {
  page: 'An empty page.',
  missing: 'Always 404.',
  refused: 'Always refused.',
} as const satisfies Record<Answer, string>;

// Checks the permission of the row: in the organization, in the enterprise, or in both, depending on the path.
async function checkScope(context: Context, path: string, permission: string, orgId: string): Promise<void> {
  if (!path.includes('/enterprise')) {
    await useOrganization(context, orgId, permission as OrganizationPermission);
  } else if (path.includes('{org_id}')) {
    await useEnterpriseOrganization(context, orgId, permission as EnterprisePermission);
  } else {
    requireEnterprisePermission(context.viewer, permission as EnterprisePermission);
  }
}

// "get /v3/enterprise/members/idp-groups/{idp_group_name}" is getEnterpriseMembersIdpGroupsIdpGroupName.
function nameOf(method: Method, path: string): string {
  const segments = path.split(/[^a-z0-9]+/i).filter((segment) => segment !== '' && segment !== 'v3');
  return method + segments.map((segment) => segment[0]?.toUpperCase() + segment.slice(1)).join('');
}
