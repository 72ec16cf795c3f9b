import { writeNumber } from '../ui/number.ts';
import { type Numbers, plural, rich, type Strings } from './kit.ts';

export const attachments = {
  files: 'Files',
};

export const checkpoints = {
  title: 'Checkpoints',
  checkpoint: 'Checkpoint',
  placeholder: 'Choose a checkpoint',
  none: 'No checkpoints yet. They are saved while the agent works.',
  hint: 'The agent’s files and memory at a point in time.',
  rewindToHere: 'Rewind to here',
  forkFromHere: 'Fork from here',
  saveAsSnapshot: 'Save as snapshot',
};

export const deleteWorkspace = {
  text: 'This deletes all files in the workspace and in the agent’s home directory, including changes that aren’t saved elsewhere. This can’t be undone. Messages, attachments and usage are kept. If the session is resumed, it starts with an empty workspace.',
  noWorkspace: 'This session has no workspace.',
  label: 'Delete workspace',
  confirmTitle: 'Delete the workspace of this session?',
};

export const details = {
  sizeFromAgent: ({ size }: Strings<'size'>) => `${size}, from the agent`,
  byMention: ({ author }: Strings<'author'>) => `${author} (mention)`,

  attachments: 'Attachments',
  copyAs: 'Copy as',
  used: ({ used }: Strings<'used'>) => `${used} used`,
  usedOfLimit: ({ used, maxAcuLimit }: Strings<'used'> & Numbers<'maxAcuLimit'>) =>
    `${used} of ${writeNumber(maxAcuLimit)} used`,
  meterLabel: 'ACU usage',
  pullRequestOf: ({ number, repositoryPath }: Strings<'repositoryPath'> & Numbers<'number'>) =>
    `Pull request #${number} of ${repositoryPath}`,
  issueOf: ({ number, repositoryPath }: Strings<'repositoryPath'> & Numbers<'number'>) =>
    `Issue #${number} of ${repositoryPath}`,
  started: 'Started',
  forkedFrom: 'Forked from',
  parent: 'Parent',
  about: 'About',
};

export const editSession = {
  label: 'Edit title and tags',
  editSession: 'Edit session',
  tagsHint: 'Separate tags with commas.',
};

export const forkDialog = {
  title: 'Fork this session',
  fork: 'Fork',
  text: 'A new session starts with the agent’s files and memory at this checkpoint. Each repository gets a new branch. This session doesn’t change.',
  promptHint: 'Without a prompt, the fork waits for its first message.',
  titlePlaceholder: 'The title of this session',
};

export const repositories = {
  andMore: ({ others }: Numbers<'others'>) => `and ${writeNumber(others)} more`,
  morePullRequests: ({ count }: Numbers<'count'>) =>
    plural(count, { one: 'and # more pull request', other: 'and # more pull requests' }),
  branch: 'Branch',
  base: 'Base',
  access: 'Access',
  readOnly: 'Read-only: the agent can’t push',
};

export const repositoryRow = {
  failed: rich('{name} could not be cloned. {body}'),
  isReady: rich('{name} is ready.'),
  cloning: rich('Cloning {name}{body}'),
  cloneOf: ({ repository }: Strings<'repository'>) => `Clone of ${repository}`,
};

export const rewindDialog = {
  rewound: ({ label }: Strings<'label'>) => `The session was rewound to “${label}”. Send a message to continue.`,
  title: 'Rewind this session?',
  rewind: 'Rewind',
  text: 'The session’s files and the agent’s memory return to this checkpoint. Later changes to files are lost unless they’re saved elsewhere.',
  stopsTurn: 'If the agent is working, its turn stops.',
  logStays: 'The transcript is kept. Later messages are marked as reverted.',
  pushedStay: 'Pushed commits and pull requests stay on your Git provider.',
};

export const snapshotDialog = {
  saved: ({ name }: Strings<'name'>) => `Saved the snapshot ${name}. New sessions can start from it.`,
  saveAsSnapshot: 'Save as snapshot',
  text: 'Anyone who can start sessions in the organization can access all of its files, including those in the agent’s home directory.',
};

export const subSessions = {
  subSessions: 'Sub-sessions',
  forks: 'Forks',
};

export const forkedFrom = {
  from: rich('Forked from {session}'),
  fromCheckpoint: rich('Forked from {session}, {checkpoint}'),
  hiddenSession: 'a session that you can’t view',
};
