import { type AgentOffer, type AgentOption, type AgentOptionValue, offerLimits } from '../options/agent-option.ts';
import { oneLine } from './text-limits.ts';

/** The request that sets an option: the one of today, or one of those before it. */
export type OptionKind = 'select' | 'boolean' | 'mode' | 'model';

/** An offer, and the kind of each option by its id. */
export interface ReadOffer {
  readonly offer: AgentOffer;
  readonly kinds: ReadonlyMap<string, OptionKind>;
}

type Raw = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Raw => typeof value === 'object' && value !== null;
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A text of an agent on one line, or null if it has none. */
function shown(value: unknown, max: number): string | null {
  if (typeof value !== 'string') return null;
  // Cut first: cleaning a text takes time in proportion to its length.
  const text = oneLine(value.slice(0, max * 2));
  return text === '' ? null : text.length <= max ? text : `${text.slice(0, max - 1)}…`.toWellFormed();
}

/** An id or a value as it is: null if it cannot be shown and sent back unchanged. */
function exact(value: unknown): string | null {
  return typeof value === 'string' && shown(value, offerLimits.id) === value ? value : null;
}

/** Counts the characters of an offer. */
class Budget {
  #left: number = offerLimits.total;

  /** Returns false if nothing more fits. */
  takes(...texts: readonly (string | null)[]): boolean {
    for (const text of texts) this.#left -= text?.length ?? 0;
    return this.#left >= 0;
  }
}

/**
 * Reads the options of a response of `session/new`, `load`, `resume` or `set_config_option`, or of a
 * `config_option_update`: `configOptions`, and `modes` and `models` of older agents, unless `configOptions` has one of
 * that category. Agents are untrusted: malformed options and values are ignored.
 */
export function readOffer(response: unknown): ReadOffer {
  const { configOptions, modes, models } = isObject(response) ? response : ({} as Raw);
  const budget = new Budget();
  const options = new Map<string, AgentOption>();
  const kinds = new Map<string, OptionKind>();
  let hasMoreOptions = false;
  const add = (raw: unknown, kind: OptionKind | null) => {
    const option = options.size < offerLimits.options ? readOption(raw, budget) : null;
    if (option === null || options.has(option.id)) hasMoreOptions = true;
    else {
      options.set(option.id, option);
      kinds.set(option.id, kind ?? (isObject(raw) && typeof raw.currentValue === 'boolean' ? 'boolean' : 'select'));
    }
  };
  const raws = listOf(configOptions);
  for (const raw of raws.slice(0, offerLimits.options)) add(raw, null);
  if (raws.length > offerLimits.options) hasMoreOptions = true;
  for (const [kind, raw] of [
    ['mode', asOption('mode', 'Mode', modes)],
    ['model', asOption('model', 'Model', models)],
  ] as const) {
    const isKnown = options.has(kind) || [...options.values()].some(({ category }) => category === kind);
    if (raw !== null && !isKnown) add(raw, kind);
  }
  return { offer: { options: [...options.values()], hasMoreOptions }, kinds };
}

// `{currentModeId, availableModes: [{id}]}` and `{currentModelId, availableModels: [{modelId}]}` of older agents.
function asOption(id: 'mode' | 'model', name: string, state: unknown): Raw | null {
  if (!isObject(state)) return null;
  const items = listOf(id === 'mode' ? state.availableModes : state.availableModels);
  if (items.length === 0) return null;
  const values = items
    .slice(0, offerLimits.values + 1)
    .map((each) => (isObject(each) ? { ...each, value: id === 'mode' ? each.id : each.modelId } : null));
  const currentValue = id === 'mode' ? state.currentModeId : state.currentModelId;
  return { id, name, category: id, currentValue, options: values };
}

function readOption(raw: unknown, budget: Budget): AgentOption | null {
  if (!isObject(raw)) return null;
  const id = exact(raw.id);
  if (id === null) return null;
  const name = shown(raw.name, offerLimits.name) ?? id;
  const description = shown(raw.description, offerLimits.description);
  const category = shown(raw.category, offerLimits.category);
  const currentValue =
    typeof raw.currentValue === 'boolean' ? String(raw.currentValue) : (shown(raw.currentValue, offerLimits.id) ?? '');
  if (!budget.takes(id, name, description, category, currentValue)) return null;
  const { values, hasMoreValues } =
    typeof raw.currentValue === 'boolean' ? switchValues : readValues(listOf(raw.options), budget);
  return { id, name, description, category, currentValue, values, hasMoreValues };
}

const switchValues: Pick<AgentOption, 'values' | 'hasMoreValues'> = {
  values: [
    { value: 'true', name: 'On', description: null },
    { value: 'false', name: 'Off', description: null },
  ],
  hasMoreValues: false,
};

// A list of values, or a list of groups of values.
function readValues(raws: readonly unknown[], budget: Budget): Pick<AgentOption, 'values' | 'hasMoreValues'> {
  const values = new Map<string, AgentOptionValue>();
  let hasMoreValues = false;
  const take = (raw: unknown) => {
    const value = isObject(raw) ? exact(raw.value) : null;
    if (!isObject(raw) || value === null) {
      hasMoreValues = true;
      return;
    }
    const name = shown(raw.name, offerLimits.name) ?? value;
    const description = shown(raw.description, offerLimits.description);
    if (values.size >= offerLimits.values || !budget.takes(value, name, description)) hasMoreValues = true;
    else if (!values.has(value)) values.set(value, { value, name, description });
  };
  let read = 0;
  for (const raw of raws) {
    const inner = isObject(raw) && Array.isArray(raw.options) ? raw.options : [raw];
    for (const each of inner) {
      if (++read > offerLimits.values) return { values: [...values.values()], hasMoreValues: true };
      take(each);
    }
  }
  return { values: [...values.values()], hasMoreValues };
}
