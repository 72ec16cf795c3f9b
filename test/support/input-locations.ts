/** Returns the input of an automation with these members. */
export const automation = (more: object = {}) => ({
  triggers: [{ incomingWebhook: {} }],
  actions: [{ startSession: { prompt: 'Go.' } }],
  ...more,
});

/** The path of an input type in the input of a mutation. */
export interface InputLocation {
  readonly mutation: string;
  /** Creates the mutation's input from these members of the input type. */
  readonly input: (members: object) => object;
  /** The path to the members in the input. */
  readonly path: readonly string[];
}

const at = (mutation: string, path: readonly string[], input: InputLocation['input']) => ({ mutation, path, input });

const option = (...path: string[]): InputLocation => ({
  mutation: 'createAutomation',
  path,
  input: (members) => automation(path.reduceRight<object>((inner, name) => ({ [name]: inner }), members)),
});

const action = (name: string, path: readonly string[], input: (members: object) => object): InputLocation => ({
  mutation: 'createAutomation',
  path: ['actions', '0', name, ...path],
  input: (members) => automation({ actions: [{ [name]: input(members) }] }),
});

const trigger = (name: string, input: (members: object) => object, path: readonly string[] = []): InputLocation => ({
  mutation: 'createAutomation',
  path: ['triggers', '0', name, ...path],
  input: (members) => automation({ triggers: [{ [name]: input(members) }] }),
});

const condition = (input: (members: object) => object, path: readonly string[]): InputLocation =>
  trigger('event', (members) => ({ eventType: 'github:push', conditions: input(members) }), ['conditions', ...path]);

/** The mutation and path of each input type that is not a mutation's own input. */
export const nestedInputs: Readonly<Record<string, InputLocation>> = {
  AutomationConditionGroupInput: condition((members) => ({ any: [members] }), ['any', '0']),
  AutomationConditionInput: condition(
    (members) => ({ any: [{ all: [{ field: 'x', operator: 'EQUALS', value: 'y', ...members }] }] }),
    ['any', '0', 'all', '0'],
  ),
  AutomationConditionsInput: condition((members) => members, []),
  AutomationNetAddressInput: {
    mutation: 'createAutomation',
    path: ['sessionSettings', 'netPolicy', 'allow', '0'],
    input: (members) => automation({ sessionSettings: { netPolicy: { allow: [members] } } }),
  },
  AutomationSessionInput: action('startSession', ['session'], (session) => ({ prompt: 'Go.', session })),
  MessageSessionActionInput: action('messageSession', [], (members) => ({ autoCreate: true, ...members })),
  MonitorSessionActionInput: action('monitorSession', [], (members) => members),
  StartSessionActionInput: action('startSession', [], (members) => members),
  EventTriggerInput: trigger('event', (members) => ({ eventType: 'GITHUB_PUSH', ...members })),
  IncomingWebhookTriggerInput: trigger('incomingWebhook', (members) => members),
  ScheduleTriggerInput: trigger('schedule', (members) => ({ rule: 'FREQ=DAILY', ...members })),
  AutomationConcurrencyInput: option('concurrency'),
  AutomationInvocationLimitInput: option('limits', 'invocations'),
  AutomationLimitsInput: option('limits'),
  AutomationNetPolicyInput: option('sessionSettings', 'netPolicy'),
  AutomationSecurityProfileInput: option('securityProfile'),
  AutomationToolsInput: option('tools'),
  EmailNotificationInput: option('notifications', 'email'),
  SlackNotificationInput: option('notifications', 'slack'),
  AgentOptionInput: {
    mutation: 'createSession',
    path: ['options', '0'],
    input: (choice) => ({ options: [{ optionId: 'model', value: 'x', ...choice }] }),
  },
  SessionSecretInput: {
    mutation: 'createSession',
    path: ['sessionSecrets', '0'],
    input: (members) => ({ sessionSecrets: [{ key: 'SOME_KEY', value: 'x', ...members }] }),
  },
  SessionPointInput: at('rewindSession', ['point'], (point) => ({ point })),
  SessionRepositoryInput: at('createSession', ['repositories', '0'], (members) => ({
    repositories: [{ repository: 'acme/site', ...members }],
  })),
  DefaultModelInput: at('updateOrganization', ['defaultModels', '0'], (model) => ({
    defaultModels: [{ agentId: 'demo', ...model }],
  })),
  ProviderKeyPricesInput: at('createProviderKey', ['prices'], (prices) => ({ key: 'c4n4ry', prices })),
  QuestionAnswerInput: { mutation: 'answerQuestion', path: ['answer'], input: (answer) => ({ answer }) },
};
