/** A choice of an {@link AgentOption}. */
export interface AgentOptionValue {
  /** The agent's own name of it, as it is set. */
  readonly value: string;
  /** For people, on one line. */
  readonly name: string;
  readonly description: string | null;
}

/** A setting of an agent's session that a user may choose, such as the model. All texts are on one line. */
export interface AgentOption {
  /** The agent's own id of it; `mode` and `model` for an agent that has no other way to name them. */
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** ACP's `mode`, `model`, `model_config` or `thought_level`, or a text of the agent's. */
  readonly category: string | null;
  /** `true` or `false` for a switch. Empty if the agent names none. */
  readonly currentValue: string;
  readonly values: readonly AgentOptionValue[];
  /** True if the agent has values that are left out: too many, too long, or not for display. */
  readonly hasMoreValues: boolean;
}

/** The options that an agent offers, within the limits of {@link offerLimits}. */
export interface AgentOffer {
  readonly options: readonly AgentOption[];
  /** True if the agent offers options that are left out. */
  readonly hasMoreOptions: boolean;
}

/** An agent that offers nothing. */
export const emptyOffer: AgentOffer = { options: [], hasMoreOptions: false };

/** Limits of an offer, in characters unless they are numbers of things. An agent may offer more. */
export const offerLimits = {
  options: 50,
  values: 500,
  /** Of an id or a value; a longer one is left out, because a part of it would name nothing. */
  id: 200,
  name: 200,
  description: 500,
  category: 60,
  /** Of all texts of an offer together. */
  total: 100_000,
} as const;

/** Returns the value that an agent must be asked to set, or the reason why it has no such value, as a sentence. */
export function refusalOf(offer: AgentOffer, id: string, value: string): string | null {
  const option = offer.options.find((each) => each.id === id);
  if (!option) return offer.hasMoreOptions ? null : `The agent offers no option ${JSON.stringify(id)}.`;
  if (option.hasMoreValues || option.values.some((each) => each.value === value)) return null;
  return `The agent offers no value ${JSON.stringify(value)} of the option ${JSON.stringify(id)}.`;
}
