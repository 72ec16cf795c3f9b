import type { TestApp } from './app.ts';
import { makeRole, runMutation } from './people.ts';
import { makeUser, organizationOfToken } from './principals.ts';
import { makeOrganization } from './sessions.ts';

const trigger = `eventType timeZone replies webhookUrl conditions { any { all { field operator value } } }`;
const action = `type prompt targetSessionId targetSession { sessionId } autoCreate setupPrompt slackMonitorConfig
  session { tags platform bypassApproval repos playbook { playbookId } notifications { email { when recipients } slack { when channelId } } }`;
/** Everything that an automation is asked for. */
export const automationFields = `id automationId organization { organizationId } name isEnabled runAs { type user { userId } }
  triggers { ${trigger} } actions { ${action} }
  limits { maxAcuLimit invocations { maxPerWindow windowSeconds } } concurrency { maxConcurrentRuns maxQueueDepth } metadata
  notifications { email { when recipients } slack { when channelId } }
  sessionSettings { sessionMode netPolicy { allow { hostname ipv4 ipv6 } } } securityProfile { profileId } templateId
  tools { mcpServers slackChannels slackDmScope isLinearEnabled }
  nextRunAt nextRuns lastRunAt lastErrorAt lastErrorMessage consecutiveFailures
  createdBy { ... on User { userId } ... on ServiceUser { serviceUserId } } updatedBy { __typename } createdAt updatedAt deletedAt
  missedRuns jitterSeconds
  runs { totalCount nodes { startedAt sessionId session { title } } }`;

/** A trigger of an RRULE. */
export const recurring = (value: string, timeZone?: string) => ({
  eventType: 'schedule:recurring',
  conditions: { any: [{ all: [{ field: 'rrule', operator: 'recurrence', value }] }] },
  ...(timeZone === undefined ? {} : { timeZone }),
});
/** An action that starts a session. */
export const startSession = { type: 'start_session', prompt: 'Sweep the floor.' };
/** Daily at nine, a long time from now. */
export const daily = 'DTSTART:20990301T090000\nRRULE:FREQ=DAILY';
const plain = { name: 'Sweep', triggers: [recurring(daily)], actions: [startSession] };
/** Every option that there is. */
export const automationOptions = {
  limits: { maxAcuLimit: 5, invocations: { maxPerWindow: 3, windowSeconds: 3_600 } },
  concurrency: { maxConcurrentRuns: 1, maxQueueDepth: 0 },
  metadata: { owner_team: 'floor', camelCase: 'kept' },
  notifications: {
    email: { when: 'dispatch_failed', recipients: ['a@example.com'] },
    slack: { when: 'always', channelId: 'C1' },
  },
  sessionSettings: {
    sessionMode: 'fast',
    netPolicy: { allow: [{ hostname: 'example.com' }, { ipv4: '10.0.0.0/8' }] },
  },
  securityProfile: { profileId: 'p1' },
  templateId: 't1',
  missedRuns: 'skip',
  jitterSeconds: 30,
  tools: { mcpServers: ['m'], slackChannels: ['c'], slackDmScope: 'all', isLinearEnabled: true },
};

/** Makes an automation as the payload has it: of what is given, and else a plain one. */
export const createAutomation = (
  test: TestApp,
  input: Record<string, unknown>,
  token?: string,
  selection = automationFields,
): Promise<any> => {
  const organizationId = token === undefined ? undefined : organizationOfToken(token);
  const automation = { organizationId, ...plain, ...input };
  return runMutation(test, 'createAutomation', `webhookSecret automation { ${selection} }`, automation, token);
};

/** Changes an automation. */
export const updateAutomation = (test: TestApp, input: Record<string, unknown>, token?: string): Promise<any> =>
  runMutation(test, 'updateAutomation', `webhookSecret automation { ${automationFields} }`, input, token);

/** Enables or disables an automation. */
export const switchAutomation = (test: TestApp, automationId: string, isOn: boolean, token?: string): Promise<any> =>
  runMutation(
    test,
    isOn ? 'enableAutomation' : 'disableAutomation',
    `automation { ${automationFields} }`,
    { automationId },
    token,
  );

/** An organization of its own for automations. */
export async function makeAutomatic(test: TestApp) {
  const { organizationId, serviceUserId, token } = await makeOrganization(test, 'Automatic');
  return { organizationId, serviceUserId, token };
}

/** A user of an organization with just these permissions. */
export async function makeMember(test: TestApp, organizationId: string, ...permissions: string[]) {
  const { roleId } = await makeRole(test, 'ORGANIZATION', permissions);
  return makeUser(test, { organizationId, roleId });
}
