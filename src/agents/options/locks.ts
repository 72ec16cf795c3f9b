import type { AgentProfile } from '../agent.ts';
import type { AgentOffer, AgentOption } from './agent-option.ts';

type Locking = Pick<AgentProfile, 'lockedOptions' | 'permission'>;

/**
 * Tells if users cannot choose an option. A profile that does not say it locks the mode if it denies permissions or asks
 * the user for them: many agents have a mode in which they ask for none.
 */
export function isLocked(
  { lockedOptions, permission }: Locking,
  { id, category }: Pick<AgentOption, 'id'> & Partial<Pick<AgentOption, 'category'>>,
): boolean {
  if (lockedOptions !== null) return lockedOptions.includes(id);
  return permission !== 'auto' && (id === 'mode' || category === 'mode');
}

/** {@link isLocked} for an id, with the category that the agent states; null: its offer is unknown. */
export function isLockedId(profile: Locking, id: string, offer: AgentOffer | null): boolean {
  return isLocked(profile, offer?.options.find((each) => each.id === id) ?? { id });
}
