import { writeNumber } from '../ui/number.ts';
import type { Numbers, Strings } from './kit.ts';

/** The tab with the commands of a session. */
export const terminalPanel = {
  terminal: 'Terminal',
  output: 'Commands and their output',
  search: 'Find in output',
  previous: 'Previous match (Shift+Enter)',
  next: 'Next match (Enter)',
  matches: ({ at, count }: Numbers<'at' | 'count'>) => `${writeNumber(at)} of ${writeNumber(count)}`,
  loadEarlier: 'Load earlier commands',
  none: 'No commands yet',
  noneText: 'Commands that the agent runs appear here with their output.',
  noneHere: 'The agent ran no commands recently.',
  cut: 'The beginning of the output isn’t shown.',
  copyOutput: ({ title }: Strings<'title'>) => `Copy output of ${title}`,
};

/** The tab with the plan of the agent. */
export const planPanel = {
  plan: 'Plan',
  progress: ({ done, count }: Numbers<'done' | 'count'>) => `${writeNumber(done)} of ${writeNumber(count)} steps done`,
  states: { COMPLETED: 'done', IN_PROGRESS: 'in progress', PENDING: 'to do' },
  none: 'No plan yet',
  noneText: 'Agents that make a plan show it here.',
};

/** The tab with the structured output. */
export const outputPanel = {
  structuredOutput: 'Structured output',
  matches: 'Matches the schema',
  copyJson: 'Copy JSON',
  schema: 'Schema',
  none: 'No output yet',
  noneYet: 'The agent sets the output while it works. It must match the session’s schema.',
  noneText: 'If the agent returns JSON as its result, it appears here.',
};
