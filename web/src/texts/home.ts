import { rich, type Strings } from './kit.ts';

export const home = {
  title: 'Home',
  heading: 'What should the agent do?',
  recentPrompts: 'Recent prompts',
  examplePrompts: 'Examples to start with',
  replaced: 'Prompt replaced.',
};

export const checklist = {
  title: 'Set up Switchyard',
  dismiss: 'Dismiss the checklist',
  agent: 'Install an agent',
  key: 'Add a model key',
  repository: 'Connect a repository',
  session: 'Start your first session',
  invite: 'Invite someone',
  done: ({ step }: Strings<'step'>) => `${step}: done`,
};

export const tokenReminder = {
  createToken: rich('<link>Create a token</link> now, so that you can sign in again. Your sign-in link worked once.'),
};
