import type { AgentKeySource } from '../../__generated__/programFragment_program.graphql.ts';
import { keySource as texts } from '../../texts/agents.ts';
import { common } from '../../texts/common.ts';

const labels: Readonly<Record<Exclude<AgentKeySource, '%future added value'>, string>> = texts.labels;

/** The source of an agent's model key, in words. */
export const keySourceText = (source: AgentKeySource): string =>
  source === '%future added value' ? common.other : labels[source];
