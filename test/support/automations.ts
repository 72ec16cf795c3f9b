import type { TestApp } from './app.ts';
import { makeRole, runMutation } from './people.ts';
import { makeUser, organizationOfToken } from './principals.ts';
import { makeOrganization } from './sessions.ts';

const conditions = 'conditions { any { all { field operator value } } }';
const trigger = `__typename eventType replies ... on ScheduleTrigger { rule timeZone }
  ... on IncomingWebhookTrigger { webhookUrl ${conditions} } ... on EventTrigger { ${conditions} }`;
const session = `tags platform bypassApproval repos playbook { playbookId }
  notifications { email { when recipients } slack { when channelId } }`;
const action = `__typename ... on StartSessionAction { prompt session { ${session} } }
  ... on MessageSessionAction { prompt targetSessionId targetSession { sessionId } autoCreate }
  ... on MonitorSessionAction { setupPrompt slackMonitorConfig }`;
/** The selection of all fields of an automation. */
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

/** Returns a trigger with an RRULE. */
export const recurring = (rule: string, timeZone?: string) => ({
  schedule: { rule, ...(timeZone === undefined ? {} : { timeZone }) },
});
/** An action that starts a session. */
export const startSession = { startSession: { prompt: 'Sweep the floor.' } };
/** Daily at nine, starting in the distant future. */
export const daily = 'DTSTART:20990301T090000\nRRULE:FREQ=DAILY';
const plain = { name: 'Sweep', triggers: [recurring(daily)], actions: [startSession] };
/** An input with every option. */
export const automationOptions = {
  limits: { maxAcuLimit: 5, invocations: { maxPerWindow: 3, windowSeconds: 3_600 } },
  concurrency: { maxConcurrentRuns: 1, maxQueueDepth: 0 },
  metadata: { owner_team: 'floor', camelCase: 'kept' },
  notifications: {
    email: { when: 'DISPATCH_FAILED', recipients: ['a@example.com'] },
    slack: { when: 'ALWAYS', channelId: 'C1' },
  },
  sessionSettings: {
    sessionMode: 'FAST',
    netPolicy: { allow: [{ hostname: 'example.com' }, { ipv4: '10.0.0.0/8' }] },
  },
  securityProfile: { profileId: 'p1' },
  templateId: 't1',
  missedRuns: 'SKIP',
  jitterSeconds: 30,
  tools: { mcpServers: ['m'], slackChannels: ['c'], slackDmScope: 'all', isLinearEnabled: true },
};

/** Creates an automation and returns the payload; missing members have simple defaults. */
export const createAutomation = (
  test: TestApp,
  input: Record<string, unknown>,
  token?: string,
  selection = automationFields,
): Promise<any> => {
  const organizationId = token === undefined ? test.organizationId : organizationOfToken(token);
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

/** Creates an organization for automations. */
export async function makeAutomatic(test: TestApp) {
  const { organizationId, serviceUserId, token } = await makeOrganization(test, 'Automatic');
  return { organizationId, serviceUserId, token };
}

/** Creates a user of an organization with exactly these permissions. */
export async function makeMember(test: TestApp, organizationId: string, ...permissions: string[]) {
  const { roleId } = await makeRole(test, 'ORGANIZATION', permissions);
  return makeUser(test, { organizationId, roleId });
}
