import type { AgentKeySource } from '../../__generated__/programFragment_program.graphql.ts';

const texts: Readonly<Record<Exclude<AgentKeySource, '%future added value'>, string>> = {
  USER: 'Your own key',
  ORGANIZATION: 'Key of the organization',
  ENTERPRISE: 'Key of the enterprise',
  ENVIRONMENT: 'Environment of the service',
  NOT_NEEDED: 'Not needed',
  NONE: 'No key',
};

/** The source of an agent's model key, in words. */
export const keySourceText = (source: AgentKeySource): string =>
  source === '%future added value' ? 'Other' : texts[source];
