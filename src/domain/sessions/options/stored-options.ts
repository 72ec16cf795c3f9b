import type { AgentOffer } from '../../../agents/options/agent-option.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';

/** An option of a session's agent, as the row of the session has it. */
export interface StoredOption {
  readonly id: string;
  /** The user's choice; null: none. */
  readonly chosen: string | null;
  /** The last choice that the agent accepted; null: none. */
  readonly applied: string | null;
  /** The value that the agent last stated, masked; null: unknown. */
  readonly current: string | null;
}

/** An option of a session, as the APIs show it. */
export interface SessionOption {
  readonly id: string;
  readonly value: string;
  /** True if the value is a choice of the user that the agent has not accepted yet. */
  readonly isPending: boolean;
}

/** A user's choice of a value. */
export interface OptionChoice {
  readonly optionId: string;
  readonly value: string;
}

/** Tells if the agent has yet to accept the user's choice. */
export const isPending = ({ chosen, applied }: StoredOption): boolean => chosen !== null && chosen !== applied;

/** Returns the options as the APIs show them. */
export function toSessionOptions(stored: readonly StoredOption[]): SessionOption[] {
  return stored.map((each) => {
    const waits = isPending(each);
    const value = waits ? each.chosen : (each.current ?? each.chosen);
    return { id: each.id, value: value ?? '', isPending: waits };
  });
}

/** Returns the options after these choices; the same object if nothing changes. */
export function withChoices(
  stored: readonly StoredOption[],
  choices: readonly OptionChoice[],
): readonly StoredOption[] {
  let next = stored;
  for (const { optionId, value } of choices) {
    const before = next.find(({ id }) => id === optionId);
    if (before?.chosen === value) continue;
    next = before
      ? next.map((each) => (each === before ? { ...each, chosen: value } : each))
      : [...next, { id: optionId, chosen: value, applied: null, current: null }];
  }
  return next;
}

/** Returns the options with the values that the agent states, in its order, and choices of others after them. */
export function withOffer(stored: readonly StoredOption[], offer: AgentOffer): StoredOption[] {
  const offered = offer.options.map(({ id, currentValue }) => {
    const before = stored.find((each) => each.id === id);
    return { id, chosen: before?.chosen ?? null, applied: before?.applied ?? null, current: currentValue };
  });
  const others = stored.filter(({ id, chosen }) => chosen !== null && !offered.some((each) => each.id === id));
  return [...offered, ...others.map((each) => ({ ...each, current: null }))];
}

/**
 * Returns the options after the agent accepted a value, or refused it: then the choice before it counts again, if the
 * user has not made another one meanwhile.
 */
export function withOutcome(
  stored: readonly StoredOption[],
  { optionId, value }: OptionChoice,
  isAccepted: boolean,
): StoredOption[] {
  return stored.map((each) => {
    if (each.id !== optionId) return each;
    if (isAccepted) return { ...each, applied: value };
    const applied = each.applied === value ? null : each.applied;
    return { ...each, applied, chosen: each.chosen === value ? applied : each.chosen };
  });
}

const read = `select s.id, s.agent_options as options from session s where s.id = any($1::text[]) and s.agent_options is not null`;

/** Reads the options of sessions by unprefixed ids, in their order. */
export async function readStoredOptions(
  reader: Pick<Context['store'], 'query'> | Transaction,
  ids: readonly string[],
): Promise<StoredOption[][]> {
  const rows = await reader.query<{ id: string; options: StoredOption[] }>(read, [ids]);
  const byId = new Map(rows.map(({ id, options }) => [id, options]));
  return ids.map((id) => byId.get(id) ?? []);
}

/** Writes the options of a session that the transaction has locked. */
export async function writeStoredOptions(
  tx: Transaction,
  sessionId: string,
  options: readonly StoredOption[],
): Promise<void> {
  const update = `
    update session set agent_options = $2::jsonb, agent_options_version = agent_options_version + 1 where id = $1`;
  await tx.query(update, [sessionId, JSON.stringify(options)]);
}
