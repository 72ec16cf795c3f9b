import { type Numbers, rich, type Strings } from './kit.ts';

export const agentsPage = {
  noAccess: 'You can’t manage agents',
  noAccessText: 'Ask an administrator for the “Manage enterprise settings” permission.',
  version: 'Version',
  modelKey: 'Model key',
  lastCheck: 'Last check',
  check: 'Check',
  checkName: ({ name }: Strings<'name'>) => `Check ${name}`,
  updateName: ({ name }: Strings<'name'>) => `Update ${name}`,
  installName: ({ name }: Strings<'name'>) => `Install ${name}`,
  update: 'Update',
  install: 'Install',
  agents: 'Agents',
  intro:
    'The coding agents that Switchyard runs. It installs tested versions from npm on its server, and also finds programs in PATH.',
  builtIn: 'Built in',
  ofOperator: 'Configured by the operator',
  removeText: 'New sessions can’t use this agent. Current sessions that use it fail at their next turn.',
  removing: ({ name }: Strings<'name'>) => `Removing ${name}.`,
  addModelKey: 'Add a model key',
  checking: 'Checking',
  passed: 'Passed',
  report: 'Report',
  reportOf: ({ name }: Strings<'name'>) => `Report for ${name}`,
};

export const checkReport = {
  protocolVersion: ({ version }: Numbers<'version'>) => `ACP ${version}`,
  protocol: 'Protocol',
  readyAfter: 'Ready after',
  sandbox: 'Sandbox',
  mcpServers: 'MCP servers',
  closeASession: 'Close a session',
  resumeASession: 'Resume a session',
  loadASession: 'Load a session',
  optionalMethods: 'Optional methods',
  promptContent: 'Prompt content',
  modes: 'Modes',
  option: ({ optionId }: Strings<'optionId'>) => `Option ${optionId}`,
  checkOf: ({ name }: Strings<'name'>) => `Check of ${name}`,
  usable: 'This agent is ready to use.',
  checkedAt: rich('Checked {time}.'),
  states: {
    WORKS: 'Works',
    FAILED: 'Failed',
    NOT_OFFERED: 'Not offered',
    NOT_TRIED: 'Not tried',
    SWITCHED_OFF: 'Switched off',
  },
};

export const keySource = {
  labels: {
    USER: 'Your own key',
    ORGANIZATION: 'Organization’s key',
    ENTERPRISE: 'Enterprise’s key',
    ENVIRONMENT: 'Server configuration',
    NOT_NEEDED: 'Not needed',
    NONE: 'No key',
  },
};

export const programState = {
  notInstalled: 'Not installed',
  unknownVersion: 'Unknown version',
  versionAvailable: ({ pinnedVersion }: Strings<'pinnedVersion'>) => `${pinnedVersion} available`,
  foundInPath: ({ path }: Strings<'path'>) => `Found in PATH: ${path}`,
  installedBySwitchyard: 'Installed by Switchyard',
  installing: 'Installing',
  removing: 'Removing',
  installationOf: ({ name }: Strings<'name'>) => `Installation of ${name}`,
  installationOff: 'The operator has turned off the installation of agents.',
  noWorker: 'Agents can’t be installed right now because no worker is running.',
};

export const progressAnnouncer = {
  checkHasPassed: ({ name }: Strings<'name'>) => `The check of ${name} passed.`,
  checkHasFailed: ({ name }: Strings<'name'>) => `The check of ${name} failed.`,
  checking: ({ name }: Strings<'name'>) => `Checking ${name}.`,
  installing: ({ name }: Strings<'name'>) => `Installing ${name}.`,
  removing: ({ name }: Strings<'name'>) => `Removing ${name}.`,
  installed: ({ name, installedVersion }: Strings<'name' | 'installedVersion'>) =>
    `${name} ${installedVersion} is installed.`,
  installationFailed: 'The installation failed.',
  removed: ({ name }: Strings<'name'>) => `${name} is removed.`,
};
