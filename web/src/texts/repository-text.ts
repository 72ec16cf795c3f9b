import type { Numbers, Strings } from './kit.ts';

export const repositoryText = {
  pullRequest: ({ pullRequestNumber }: Numbers<'pullRequestNumber'>) => `Pull request #${pullRequestNumber}`,
  at: ({ name, commit }: Strings<'name' | 'commit'>) => `${name} at ${commit}`,
  notClonedYet: 'Not cloned yet',
  cloning: 'Cloning',
  ready: 'Ready',
};
