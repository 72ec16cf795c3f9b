import type { Services } from '../../domain/context.ts';
import type { Watches } from '../../domain/subscriptions/watches.ts';
import { jsonReply, type Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import { createAttachments } from './attachments.ts';
import { createEventStreams, type EventStreams } from './event-streams.ts';
import { createGitWebhooks } from './git-webhooks.ts';
import { createIncomingWebhooks } from './incoming-webhooks.ts';
import { createDescriptions } from './openapi.ts';
import { createScim } from './scim/scim-api.ts';
import { serveAttachments as serveV1Attachments } from './v1/attachments.ts';
import { serveAuditLogs as serveV1AuditLogs } from './v1/audit-logs.ts';
import { serveConsumption as serveV1Consumption } from './v1/consumption.ts';
import { dialect as v1 } from './v1/dialect.ts';
import { serveKnowledge as serveV1Knowledge } from './v1/knowledge.ts';
import { servePlaybooks as serveV1Playbooks } from './v1/playbooks.ts';
import { serveSecrets as serveV1Secrets } from './v1/secrets.ts';
import { serveSessions as serveV1Sessions } from './v1/sessions.ts';
import { serveApiKeys as serveV2ApiKeys } from './v2/api-keys.ts';
import { serveAuditLogs as serveV2AuditLogs } from './v2/audit-logs.ts';
import { serveConsumption as serveV2Consumption } from './v2/consumption.ts';
import { dialect as v2 } from './v2/dialect.ts';
import { serveMembers as serveV2Members } from './v2/members.ts';
import { serveOrganizations as serveV2Organizations } from './v2/organizations.ts';
import { servePlaybooks as serveV2Playbooks } from './v2/playbooks.ts';
import { serveRoles as serveV2Roles } from './v2/roles.ts';
import { serveAcuLimits } from './v3/acu-limits.ts';
import { serveApiKeys } from './v3/api-keys.ts';
import { serveAttachments } from './v3/attachments.ts';
import { serveAuditExports } from './v3/audit-export.ts';
import { serveAuditLogs } from './v3/audit-logs.ts';
import { serveAutomationRuns } from './v3/automation-runs.ts';
import { serveAutomations } from './v3/automations.ts';
import { serveConsumption } from './v3/consumption.ts';
import { dialect as v3 } from './v3/dialect.ts';
import { serveGitConnections, serveGitPermissions } from './v3/git-providers.ts';
import { serveGroupRoles, serveIdpGroups } from './v3/idp-groups.ts';
import { serveIdpUsers } from './v3/idp-users.ts';
import { serveInsights } from './v3/insights.ts';
import { serveIpAccessList } from './v3/ip-access-list.ts';
import { serveKnowledge } from './v3/knowledge.ts';
import { serveMessages } from './v3/messages.ts';
import { serveMetrics } from './v3/metrics.ts';
import { serveOrganizations } from './v3/organizations.ts';
import { servePlaybooks } from './v3/playbooks.ts';
import { servePrReviews } from './v3/pr-reviews.ts';
import { serveRepositories } from './v3/repositories.ts';
import { serveRoles } from './v3/roles.ts';
import { serveSchedules } from './v3/schedules.ts';
import { serveSecrets } from './v3/secrets.ts';
import { serveSelf } from './v3/self.ts';
import { serveOrganizationServiceUsers, serveServiceUsers } from './v3/service-users.ts';
import { serveSessions } from './v3/sessions.ts';
import { serveOrganizationTags, serveSessionTags } from './v3/tags.ts';
import { serveOrganizationUsers, serveUsers } from './v3/users.ts';
import { serveWithoutFeature } from './v3/without-feature.ts';
import { createVersionApi, type VersionApi } from './version-api.ts';
import { createWorkspaceFiles } from './workspace-files.ts';

/** The REST versions and their documents, `/v1`, `/v2`, `/v3` and `/openapi`, and SCIM, `/scim/v2`. */
export interface Rest {
  /** Answers every request; it never rejects. */
  respond(request: RequestView): Promise<Reply>;
}

/** Paths outside of their version's prefix: version 1 described one without it, and version 3 had some as a beta. */
const versionOf: ReadonlyMap<string, string> = new Map([
  ['enterprise', 'v1'],
  ['v3beta1', 'v3'],
]);

/** Creates all versions with their endpoints. To retire a version, delete its line. */
export function createRest(services: Services, watches: Watches): Rest {
  const streams = createEventStreams(services);
  const apis: ReadonlyMap<string, VersionApi> = new Map([
    ['v1', openV1(services)],
    ['v2', openV2(services)],
    ['v3', openV3(services, watches, streams)],
  ]);
  const attachments = createAttachments(services);
  const workspaceFiles = createWorkspaceFiles(services);
  const webhooks = createIncomingWebhooks(services);
  const gitWebhooks = createGitWebhooks(services);
  const scim = createScim(services);
  const descriptions = createDescriptions(apis);
  return {
    respond(request) {
      const [, segment = ''] = request.path.split('/', 2);
      // The earliest API let a client terminate a session without naming a version. Other methods on this path belong
      // to the console.
      const isEarliest = segment === 'sessions' && request.method === 'DELETE';
      const api = apis.get(isEarliest ? 'v1' : (versionOf.get(segment) ?? segment));
      if (api) return api.respond(request);
      if (segment === 'scim') return scim.respond(request);
      if (segment === 'attachments') return attachments.respond(request);
      if (segment === 'workspace-files') return workspaceFiles.respond(request);
      if (segment === 'webhooks') {
        return (request.path.startsWith('/webhooks/git/') ? gitWebhooks : webhooks).respond(request);
      }
      if (segment === 'openapi') return descriptions.respond(request);
      return Promise.resolve(jsonReply(404, { detail: 'This route does not exist.' }));
    },
  };
}

function openV1(services: Services): VersionApi {
  const api = createVersionApi(v1, services);
  serveV1Sessions(api);
  serveV1Knowledge(api);
  serveV1Playbooks(api);
  serveV1Secrets(api);
  serveV1Attachments(api);
  serveV1AuditLogs(api);
  serveV1Consumption(api);
  return api;
}

function openV2(services: Services): VersionApi {
  const api = createVersionApi(v2, services);
  serveV2ApiKeys(api);
  serveV2AuditLogs(api);
  serveV2Playbooks(api);
  serveV2Consumption(api);
  serveV2Organizations(api);
  serveV2Members(api);
  serveV2Roles(api);
  return api;
}

function openV3(services: Services, watches: Watches, streams: EventStreams): VersionApi {
  const api = createVersionApi(v3, services);
  serveInsights(api);
  serveSessions(api);
  serveMessages(api, watches, streams);
  serveSessionTags(api);
  serveOrganizationTags(api);
  serveKnowledge(api);
  servePlaybooks(api);
  serveSecrets(api);
  serveAutomations(api);
  serveAutomationRuns(api);
  serveSchedules(api);
  serveAttachments(api);
  serveSelf(api);
  serveOrganizations(api);
  serveUsers(api);
  serveIdpGroups(api);
  serveGroupRoles(api);
  serveIdpUsers(api);
  serveOrganizationUsers(api);
  serveRoles(api);
  serveServiceUsers(api);
  serveOrganizationServiceUsers(api);
  serveApiKeys(api);
  serveAcuLimits(api);
  serveIpAccessList(api);
  serveAuditLogs(api);
  serveAuditExports(api);
  serveConsumption(api);
  serveMetrics(api);
  serveGitConnections(api);
  serveGitPermissions(api);
  serveRepositories(api);
  servePrReviews(api);
  serveWithoutFeature(api);
  return api;
}
