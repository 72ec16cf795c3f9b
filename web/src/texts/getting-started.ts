import type { Strings } from './kit.ts';

export const agentStep = {
  hideOtherAgents: 'Hide other agents',
  otherAgents: 'Other agents',
  chooseAgent: 'Choose a coding agent. Switchyard installs a tested version from npm on its server.',
  installOnServer: 'Install an agent on the server.',
  install: 'Install',
  installName: ({ name }: Strings<'name'>) => `Install ${name}`,
  key: ({ keySource }: Strings<'keySource'>) => `Key: ${keySource}`,
  serverKeyNeeded: 'Needs a key in the server’s configuration',
  keys: ({ providers }: Strings<'providers'>) => `Keys: ${providers}`,
};

export const examples = {
  demo: 'A tour of a session',
  demoText: 'The demo agent shows a plan, asks a question and writes a file.',
  /** Each line is a command of the demo agent (docs/agents.md). */
  demoPrompt: [
    'plan Ask a question; Write a file; Say what was done',
    'say I am the demo agent: I have no model, and each line of your prompt is one of my commands.',
    'ask Which language should the greeting have?',
    'write hello.md # Hello',
    'say I wrote **hello.md**. Open the **Files** tab to read it.',
  ].join('\n'),
  reportPrompt:
    'Create sales.csv with 200 invented sales of four products in one year. Write a script that adds them up by month and ' +
    'product, and run it. Write the result to report.md as a table, and show me the table.',
  browserPagePrompt:
    'Write index.html: a typing speed test in a single file, without libraries. It shows a text to type, marks mistakes, ' +
    'and shows the words per minute at the end. Then explain in three sentences how it works.',
  testedProgramPrompt:
    'Write a small program that converts numbers to Roman numerals and back, and tests for it. Use a language that is ' +
    'installed here, and no packages. Run the tests, and show me their output.',
  testedProgram: 'A program with tests',
  testedProgramText: 'Converts Roman numerals.',
  browserPage: 'A web page',
  browserPageText: 'A typing test in a single file.',
  report: 'A report from data',
  reportText: 'Makes up sales figures and totals them.',
};

export const gettingStartedPage = {
  nothingToSetUp: 'Nothing to set up',
  nothingToSetUpText: 'An administrator sets up agents and model keys.',
  viewAllSessions: 'View all sessions',
  gettingStarted: 'Getting started',
  tryTheDemoAgent: 'Try the demo agent',
  skip: 'Skip',
  ready: 'Everything is ready. Start another session here, or close this page.',
  intro:
    'Three steps to your first session: an agent, a key for its model, and a prompt. The demo agent needs neither, and shows what sessions look like.',
  installAnAgent: 'Install an agent',
  addAModelKey: 'Add a model key',
  startASession: 'Start a session',
  startYourFirstSession: 'Start your first session',
};

export const keyStep = {
  operatorSetsKeys: 'The installed agents use a key from the server’s configuration, which the operator can set.',
  addAnotherKey: 'Add another key',
  replaceKey: 'Replace key',
  replaceKeyName: ({ name }: Strings<'name'>) => `Replace key ${name}`,
  everybody: 'Everyone',
  membersOf: ({ name }: Strings<'name'>) => `Members of ${name}`,
  onlyMe: 'Only me',
  keyIntro:
    'Agents call models with your provider’s key. The service stores it encrypted, and agents never see it. A key in the server’s configuration works too.',
  saveKey: 'Save key',
  audience: 'Who can use it',
};

export const promptStep = {
  needsOthers: 'Install an agent and add a key first, or try the demo agent, which needs neither.',
  examples: 'Choose an example, or write your own prompt.',
  startSession: 'Start session',
};

export const step = {
  done: ': done',
};
