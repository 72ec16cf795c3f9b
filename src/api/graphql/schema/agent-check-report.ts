import type { ProgramCheck } from '../../../domain/installation/agent-programs/list-programs.ts';
import { builder } from '../builder.ts';
import { defineEnum } from './define-enum.ts';

type Report = ProgramCheck['report'];
type CheckedOption = Report['options'][number];
type Outcome = Report['mcp'];

const CheckOutcomeState = defineEnum<'WORKS' | 'FAILED' | 'NOT_OFFERED' | 'NOT_TRIED' | 'SWITCHED_OFF'>(
  'AgentCheckOutcomeState',
  'Whether an optional feature of an agent works.',
  {
    'WORKS': 'The feature was tried and works.',
    'FAILED': 'The feature was tried and failed.',
    'NOT_OFFERED': 'The agent does not offer the feature.',
    'NOT_TRIED': 'The feature was not tried.',
    'SWITCHED_OFF': 'The profile of the agent switches the feature off.',
  },
);

const CheckOutcome = builder.objectRef<Outcome>('AgentCheckOutcome').implement({
  description: 'The result of checking one optional feature of an agent.',
  fields: (t) => ({
    state: t.field({
      type: CheckOutcomeState,
      description: 'Whether the feature works.',
      resolve: ({ state }) => state.toUpperCase().replaceAll(' ', '_') as never,
    }),
    reason: t.string({
      nullable: true,
      description: 'Reason of the failure; null if the feature did not fail.',
      resolve: (outcome) => (outcome.state === 'failed' ? outcome.reason : null),
    }),
    tookMs: t.float({
      nullable: true,
      description: 'Time that the feature took, in milliseconds; null if it does not work.',
      resolve: (outcome) => (outcome.state === 'works' ? outcome.tookMs : null),
    }),
  }),
});

const CheckedOptionType = builder.objectRef<CheckedOption>('AgentCheckOption').implement({
  description: 'An option that an agent offered at a check.',
  fields: (t) => ({
    optionId: t.exposeString('id', { description: 'Id of the option, unique within its agent.' }),
    value: t.exposeString('value', { description: 'Value of the option in a new session.' }),
    choices: t.stringList({ description: 'Values that the option can have.', resolve: ({ choices }) => [...choices] }),
    isLocked: t.exposeBoolean('isLocked', { description: 'Whether the profile of the agent locks the option.' }),
  }),
});

const outcomes = {
  mcp: 'Whether the agent connects to MCP servers, which it needs to report results.',
  close: 'Whether the agent closes its sessions.',
  resume: 'Whether another process of the agent resumes a session.',
  load: 'Whether another process of the agent loads a session.',
} as const satisfies Partial<Record<keyof Report, string>>;

const AgentCheckReport = builder.objectRef<Report>('AgentCheckReport').implement({
  description: 'Features of an agent, and their results when it was started in an empty directory.',
  fields: (t) => ({
    failure: t.exposeString('failure', {
      nullable: true,
      description: 'Reason why the agent cannot be used, as a sentence; null if it can.',
    }),
    warnings: t.stringList({
      description: 'Likely problems of the profile of the agent, as sentences.',
      resolve: ({ warnings }) => [...warnings],
    }),
    sandbox: t.exposeString('sandbox', { description: 'Driver of the sandbox, such as `bwrap` or `none`.' }),
    agentName: t.exposeString('name', { nullable: true, description: 'Name that the agent reports; null if none.' }),
    agentVersion: t.exposeString('version', {
      nullable: true,
      description: 'Version that the agent reports; null if none.',
    }),
    protocolVersion: t.exposeInt('protocolVersion', {
      nullable: true,
      description: 'Version of the Agent Client Protocol that the agent speaks; null if it did not respond.',
    }),
    readyMs: t.exposeFloat('readyMs', {
      nullable: true,
      description:
        'Time from the start of the agent until its session was open, in milliseconds; null if it never was.',
    }),
    offers: t.stringList({
      description: 'Optional methods that the agent offers, such as `load` and `resume`.',
      resolve: ({ offers }) => [...offers],
    }),
    promptContent: t.stringList({
      description: 'Kinds of content that the agent accepts in prompts.',
      resolve: ({ promptContent }) => [...promptContent],
    }),
    modes: t.stringList({ description: 'Session modes of the agent.', resolve: ({ modes }) => [...modes] }),
    options: t.field({
      type: [CheckedOptionType],
      description: 'Options that the agent offers.',
      resolve: ({ options }) => [...options],
    }),
    ...Object.fromEntries(
      Object.entries(outcomes).map(([name, description]) => [
        name,
        t.field({ type: CheckOutcome, description, resolve: (report) => report[name as keyof typeof outcomes] }),
      ]),
    ),
  }),
});

/** A check of an agent, and its report. */
export const AgentCheck = builder.objectRef<ProgramCheck>('AgentCheck').implement({
  description: 'The last check of an agent, which starts its program without calling a model.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'Time when the check ended.' }),
    isOk: t.boolean({
      description: 'Whether the agent can be used.',
      resolve: ({ report }) => report.failure === null,
    }),
    report: t.expose('report', {
      type: AgentCheckReport,
      description: 'Features that the agent supports, and their results.',
    }),
  }),
});
