import { findEnterprises } from '../../../domain/identity/organizations/enterprises.ts';
import { requestProgramAct } from '../../../domain/installation/agent-programs/change-programs.ts';
import {
  type AgentProgramRecord,
  type HostProgram,
  isOutdated,
  listAgentPrograms,
  overallState,
  type ProgramSource,
  type ProgramState,
  shownCheck,
  shownHost,
} from '../../../domain/installation/agent-programs/list-programs.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { AgentCheck } from './agent-check-report.ts';
import { AgentKeySourceEnum, readAgentId } from './agents.ts';
import { defineEnum } from './define-enum.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary } from './needs.ts';
import { ModelProviderEnum } from './provider-key-enums.ts';

const AgentProgramStateEnum = defineEnum<ProgramState>('AgentProgramState', 'The state of the program of an agent.', {
  'NOT_INSTALLED': 'The program is not installed.',
  'INSTALLING': 'The program is being installed or updated. An earlier version keeps working until then.',
  'INSTALLED': 'The program is installed.',
  'REMOVING': 'The program is being removed.',
  'FAILED': 'The last installation or removal failed. An earlier version keeps working.',
});

const AgentProgramSourceEnum = defineEnum<ProgramSource>('AgentProgramSource', 'Where the program of an agent is.', {
  'PATH': 'In a directory of `PATH`, where the operator installed it.',
  'AGENTS_DIRECTORY': 'In the directory of programs that the service installs.',
});

const AgentProgramHost = builder.objectRef<HostProgram>('AgentProgramHost').implement({
  description: 'The program of an agent on the host of one worker.',
  fields: (t) => ({
    workerId: t.exposeString('workerId', { description: 'Id of the worker, as in the log of the service.' }),
    hostName: t.exposeString('host', { description: 'Name of the host of the worker.' }),
    state: t.expose('state', { type: AgentProgramStateEnum, description: 'State of the program on the host.' }),
    installedVersion: t.exposeString('version', {
      nullable: true,
      description: 'Version of the program; null if there is none or its version is unknown.',
    }),
    source: t.expose('source', {
      type: AgentProgramSourceEnum,
      nullable: true,
      description: 'Where the program is; null if there is none.',
    }),
    path: t.exposeString('path', { nullable: true, description: 'Path of the program; null if there is none.' }),
    progress: t.exposeString('progress', {
      nullable: true,
      description: 'Progress of a running installation or check, for users; null if none is running.',
    }),
    progressPercent: t.exposeInt('progressPercent', {
      nullable: true,
      description: 'Estimated progress of a running installation, 0 to 99; null if none is running.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Reason why the last installation or removal failed, and the remedy; null if it did not fail.',
    }),
    isChecking: t.exposeBoolean('isChecking', { description: 'Whether a check of the agent is running.' }),
    lastCheck: t.expose('lastCheck', {
      type: AgentCheck,
      nullable: true,
      description: 'Last check of the agent on the host; null if there was none.',
    }),
  }),
});

const AgentProgram = builder.objectRef<AgentProgramRecord>('AgentProgram').implement({
  description:
    'The program of an agent that the service can install from npm, over all hosts with a running worker. If hosts differ, the fields of one version show an outdated one, and those of the state the one that needs most attention.',
  fields: (t) => ({
    agentId: t.string({
      description: 'Id of the agent profile, as in `Agent.agentId`.',
      resolve: ({ package: { agentId } }) => agentId,
    }),
    name: t.exposeString('name', { description: 'Display name of the agent.' }),
    packageName: t.string({
      description: 'Name of the npm package of the program.',
      resolve: ({ package: { name } }) => name,
    }),
    pinnedVersion: t.string({
      description: 'Version that the service installs, with which it was tested.',
      resolve: ({ package: { version } }) => version,
    }),
    installedVersion: t.string({
      nullable: true,
      description: 'Version that is installed; null if none is, or its version is unknown.',
      resolve: (program) => shownHost(program)?.version ?? null,
    }),
    source: t.field({
      type: AgentProgramSourceEnum,
      nullable: true,
      description: 'Where the program is; null if it is not installed.',
      resolve: (program) => shownHost(program)?.source ?? null,
    }),
    path: t.string({
      nullable: true,
      description: 'Path of the program on its host; null if it is not installed.',
      resolve: (program) => shownHost(program)?.path ?? null,
    }),
    isOutdated: t.boolean({
      description: 'Whether the service installed another version than `pinnedVersion`; `installAgent` replaces it.',
      resolve: ({ package: { version }, hosts }) => hosts.some((host) => isOutdated(host, version)),
    }),
    state: t.field({
      type: AgentProgramStateEnum,
      description: 'State of the program over all hosts.',
      resolve: ({ hosts }) => overallState(hosts),
    }),
    progress: t.string({
      nullable: true,
      description: 'Progress of a running installation or check, for users; null if none is running.',
      resolve: ({ hosts }) =>
        slowest(hosts)?.progress ?? hosts.find(({ progress }) => progress !== null)?.progress ?? null,
    }),
    progressPercent: t.int({
      nullable: true,
      description: 'Estimated progress of a running installation, 0 to 99; null if none is running.',
      resolve: ({ hosts }) => slowest(hosts)?.progressPercent ?? null,
    }),
    error: t.string({
      nullable: true,
      description: 'Reason why the last installation or removal failed, and the remedy; null if it did not fail.',
      resolve: ({ hosts }) => hosts.find(({ error }) => error !== null)?.error ?? null,
    }),
    providers: t.field({
      type: [ModelProviderEnum],
      description:
        'Providers whose provider keys the agent can use, the preferred one first. Empty if it can use none.',
      resolve: ({ package: { agentId } }, _args, { domain }) => [...domain.agents.providersOf(agentId)],
    }),
    keySource: t.expose('keySource', {
      type: AgentKeySourceEnum,
      description: 'Source of the key that every session on the agent has, unless it has a key of its own.',
    }),
    canInstall: t.boolean({
      description:
        'Whether a host can install the program: a worker is running, and the operator has not switched installation off.',
      resolve: ({ hosts }) => hosts.some(({ canInstall }) => canInstall),
    }),
    isChecking: t.boolean({
      description: 'Whether a check of the agent is running.',
      resolve: ({ hosts }) => hosts.some(({ isChecking }) => isChecking),
    }),
    lastCheck: t.field({
      type: AgentCheck,
      nullable: true,
      description: 'Last check of the agent, of several hosts the last one that failed; null if there was none.',
      resolve: ({ hosts }) => shownCheck(hosts),
    }),
    hosts: t.field({
      type: [AgentProgramHost],
      description: 'Program on each host with a running worker, at most 100.',
      resolve: ({ hosts }) => [...hosts],
    }),
  }),
});

function slowest(hosts: readonly HostProgram[]): HostProgram | null {
  const installing = hosts.filter(({ progressPercent }) => progressPercent !== null);
  return installing.toSorted((a, b) => (a.progressPercent ?? 0) - (b.progressPercent ?? 0))[0] ?? null;
}

builder.objectField(Enterprise, 'agentPrograms', (t) =>
  t.field({
    type: [AgentProgram],
    ...boundary('viewAgentPrograms'),
    description:
      'Programs of the agents that the service can install, in the order in which a default agent is chosen.',
    resolve: (_enterprise, _args, { domain }) => listAgentPrograms(domain),
  }),
);

const acts = {
  installAgent: {
    act: 'install',
    description:
      'Starts the installation of the program of an agent on every host with a running worker, also over another version or a damaged one. Returns at once; `AgentProgram.state` has the progress. INVALID_STATE if no host can install it, or if a change or check of the program is in progress.',
  },
  removeAgent: {
    act: 'remove',
    description:
      'Starts the removal of a program that the service has installed, on every host with a running worker. Sessions that run on the agent may fail. INVALID_STATE if the service has not installed it, or if a change or check of the program is in progress.',
  },
  checkAgent: {
    act: 'check',
    description:
      'Starts a check of an agent on every host with a running worker that has its program: the agent is started in an empty directory, without a call of a model. Returns at once; `AgentProgram.lastCheck` has the report. INVALID_STATE if no host has the program, or if a change or check of it is in progress.',
  },
} as const;

for (const [name, { act, description }] of Object.entries(acts)) {
  addMutation(name, {
    description,
    needs: ['changeAgentPrograms'],
    input: (t) => ({
      agentId: t.id({
        required: true,
        description: 'Global ID of the agent, or the id of its profile, such as `opencode`.',
      }),
    }),
    payload: {
      agentProgram: { type: AgentProgram, description: 'Program of the agent. Null if there are user errors.' },
      enterprise: {
        type: Enterprise,
        description: 'The enterprise; null if the viewer may not read it, or if there are user errors.',
      },
    },
    act: async ({ agentId }, { domain, loaders }) => ({
      agentProgram: await requestProgramAct(domain, act, readAgentId(agentId)),
      enterprise: await loaders.of(findEnterprises).load(domain.viewer.enterpriseId),
    }),
  });
}
