import { writeNumber } from '../ui/number.ts';
import type { Numbers, Strings } from './kit.ts';

export const repositoriesPicker = {
  placeholder: 'Add owner/name',
  emptyText: 'Type owner/name. Repositories appear here after their first session.',
  emptyTextWithForges: 'Type owner/name.',
  limitHint: ({ maxRepositories }: Numbers<'maxRepositories'>) =>
    `You can add up to ${writeNumber(maxRepositories)} repositories.`,
  hint: 'Lists repositories of earlier sessions. For any other, type owner/name.',
  hintWithForges: 'Lists repositories of earlier sessions and your Git providers. For any other, type owner/name.',
  notFound: ({ host }: Strings<'host'>) => `Repository not found on ${host}, or the connection can’t read it.`,
  notUsable: 'None of this organization’s Git providers covers this repository.',
  notAName: 'Enter owner/name or the URL of a repository.',
  chosen: ({ label }: Strings<'label'>) => `${label}: chosen`,
  branches: ({ chosen }: Strings<'chosen'>) => `Branches${chosen}`,
  startFrom: ({ repository }: Strings<'repository'>) => `Start ${repository} from`,
  startFromHint: 'A branch, tag or commit.',
  branchIn: ({ repository }: Strings<'repository'>) => `Branch in ${repository}`,
  newBranch: 'New branch from the template',
  branchHint: 'The agent works on this branch and pushes to it.',
  from: ({ ref }: Strings<'ref'>) => `from ${ref}`,
  on: ({ branch }: Strings<'branch'>) => `on ${branch}`,
};

export const checkpointChoices = {
  rewindToStart: 'Rewind to before turn 1',
  rewindToTurn: ({ turn }: Numbers<'turn'>) => `Rewind to turn ${writeNumber(turn)}`,
  startOfFork: 'Start of the fork',
  startOfSession: 'Start of the session',
  beforeFirstTurn: 'Before turn 1',
  endOfTurn: ({ turn }: Numbers<'turn'>) => `End of turn ${writeNumber(turn)}`,
  beforeStop: ({ turn }: Numbers<'turn'>) => `Turn ${writeNumber(turn)}, before a stop`,
  duringTurn: ({ turn }: Numbers<'turn'>) => `During turn ${writeNumber(turn)}`,
};

export const playbookChoices = {
  ofTheEnterprise: 'From the enterprise',
};
