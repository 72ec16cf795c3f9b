/** The agent that needs no model. */
export const demoAgentId = 'demo';

const key = 'switchyard:getting-started';

/** Returns true if the user has finished or skipped the first-run page in this browser. */
export function isSetupClosed(principalKey: string): boolean {
  return localStorage.getItem(key) === principalKey;
}

/** Does not show the first-run page to the user again, except on request. */
export function closeSetup(principalKey: string): void {
  localStorage.setItem(key, principalKey);
}

const checklistKey = 'switchyard:checklist';

/** Returns true if the user has dismissed the checklist of the home page in this browser. */
export function isChecklistClosed(principalKey: string): boolean {
  return localStorage.getItem(checklistKey) === principalKey;
}

/** Does not show the checklist to the user again. */
export function closeChecklist(principalKey: string): void {
  localStorage.setItem(checklistKey, principalKey);
}

interface AgentFacts {
  readonly agentId: string;
  readonly keySource: string | null | undefined;
}

/** The agents besides the demo agent. */
export function installedAgents<Agent extends { readonly agentId: string }>(agents: readonly Agent[]): Agent[] {
  return agents.filter(({ agentId }) => agentId !== demoAgentId);
}

/** The agents, besides the demo agent, that have a key or need none. */
export function usableAgents<Agent extends AgentFacts>(agents: readonly Agent[]): Agent[] {
  return installedAgents(agents).filter(({ keySource }) => keySource != null && keySource !== 'NONE');
}

interface KeyFacts {
  readonly scope: string;
  readonly provider: string;
  readonly isEnabled: boolean;
  readonly lastFailure: object | null | undefined;
}

type KeyedAgent = AgentFacts & { readonly providers: readonly string[] };

/** Returns true if there is a usable agent without a failed key. */
export function hasWorkingKey(agents: readonly KeyedAgent[], keys: readonly KeyFacts[]): boolean {
  return usableAgents(agents).some((agent) => failedKeyOf(agent, keys) === null);
}

/** Returns a key of an agent if none of its keys works, as far as their last calls show; null: one works, or the viewer sees none. */
export function failedKeyOf<Key extends KeyFacts>(
  agent: Pick<KeyedAgent, 'keySource' | 'providers'>,
  keys: readonly Key[],
): Key | null {
  const own = keys.filter(
    ({ scope, provider, isEnabled }) => scope === agent.keySource && isEnabled && agent.providers.includes(provider),
  );
  return own.every(({ lastFailure }) => lastFailure != null) ? (own[0] ?? null) : null;
}
