import type { AgentOffer, AgentOption } from '../../../agents/options/agent-option.ts';
import type { Mask } from './masking.ts';

/**
 * Masks the texts of an offer. An option whose id, or a value whose name for the agent, contains a secret is left out: it
 * could not be set by its masked name.
 */
export function maskOffer({ options, hasMoreOptions }: AgentOffer, mask: Mask): AgentOffer {
  const isPlain = (text: string) => mask(text) === text;
  const kept = options.filter(({ id }) => isPlain(id));
  return {
    options: kept.map((option) => maskOption(option, mask, isPlain)),
    hasMoreOptions: hasMoreOptions || kept.length < options.length,
  };
}

function maskOption(option: AgentOption, mask: Mask, isPlain: (text: string) => boolean): AgentOption {
  const masked = <T extends string | null>(text: T) => (text === null ? text : mask(text)) as T;
  const values = option.values.filter(({ value }) => isPlain(value));
  return {
    id: option.id,
    name: mask(option.name),
    description: masked(option.description),
    category: masked(option.category),
    currentValue: mask(option.currentValue),
    values: values.map(({ value, name, description }) => ({
      value,
      name: mask(name),
      description: masked(description),
    })),
    hasMoreValues: option.hasMoreValues || values.length < option.values.length,
  };
}
