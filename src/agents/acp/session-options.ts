import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { AgentCrash } from '../agent.ts';
import { type AgentOffer, type AgentOption, emptyOffer, refusalOf } from '../options/agent-option.ts';
import { type OptionKind, type ReadOffer, readOffer } from './read-offer.ts';
import type { Requests } from './requests.ts';

/** The options of an agent's session as the agent last stated them. */
export interface SessionOptions {
  offer(): AgentOffer;
  /** Takes the response that opened the session. */
  opened(response: unknown): void;
  /** Takes a notification; those about other things are ignored. */
  observe(update: SessionUpdate): void;
  /**
   * Sets an option by the request that the agent knows for it. Rejects with AgentCrash. An option or a value that the agent
   * does not offer is refused without a request.
   */
  set(sessionId: string, id: string, value: string, timeoutMs: number): Promise<void>;
  /** Sets an option of the profile, which the agent itself checks. */
  configure(sessionId: string, id: string, value: string | boolean, timeoutMs: number): Promise<void>;
  /** Sets the mode of the profile. */
  setMode(sessionId: string, modeId: string, timeoutMs: number): Promise<void>;
}

const olderKinds: ReadonlySet<unknown> = new Set<OptionKind>(['mode', 'model']);

/** Creates the options of one session. `onChange` is called after each change of the offer. */
export function createSessionOptions(requests: () => Requests, onChange: (offer: AgentOffer) => void): SessionOptions {
  let offer: AgentOffer = emptyOffer;
  let kinds: ReadonlyMap<string, OptionKind> = new Map();

  const take = ({ offer: next, kinds: nextKinds }: ReadOffer) => {
    offer = next;
    kinds = nextKinds;
    onChange(offer);
  };

  // A later list of options does not repeat the modes and models of older agents.
  const takeList = (response: unknown) => {
    const read = readOffer(response);
    const isStated = ({ id, category }: AgentOption) =>
      read.offer.options.some((each) => each.id === id || each.category === category);
    const older = offer.options.filter((each) => olderKinds.has(kinds.get(each.id)) && !isStated(each));
    take({
      offer: { ...read.offer, options: [...read.offer.options, ...older] },
      kinds: new Map([...read.kinds, ...older.map(({ id }) => [id, id as OptionKind] as const)]),
    });
  };

  const replaceCurrent = (id: string, currentValue: string) => {
    if (!offer.options.some((each) => each.id === id && each.currentValue !== currentValue)) return;
    const options = offer.options.map((each) => (each.id === id ? { ...each, currentValue } : each));
    offer = { ...offer, options };
    onChange(offer);
  };

  const configure = async (sessionId: string, configId: string, value: string | boolean, timeoutMs: number) => {
    const typed = typeof value === 'boolean' ? { type: 'boolean', value } : { value };
    const params = { sessionId, configId, ...typed };
    const response = await requests().send<unknown>('session/set_config_option', params, timeoutMs);
    // The values of one option may depend on another, so the agent returns all of them.
    if (hasOptions(response)) takeList(response);
    else replaceCurrent(configId, String(value));
  };

  const setMode = async (sessionId: string, modeId: string, timeoutMs: number) => {
    await requests().send('session/set_mode', { sessionId, modeId }, timeoutMs);
    if (kinds.get('mode') === 'mode') replaceCurrent('mode', modeId);
  };

  return {
    offer: () => offer,
    opened: (response) => take(readOffer(response)),
    configure,
    setMode,
    observe(update) {
      if (update.sessionUpdate === 'config_option_update') {
        takeList(update);
      } else if (update.sessionUpdate === 'current_mode_update' && kinds.get('mode') === 'mode') {
        const { currentModeId } = update as { currentModeId?: unknown };
        const mode = offer.options.find(({ id }) => id === 'mode');
        const known = mode?.values.find(({ value }) => value === currentModeId);
        if (known) replaceCurrent('mode', known.value);
      }
    },
    async set(sessionId, id, value, timeoutMs) {
      const reason = refusalOf(offer, id, value);
      if (reason !== null) throw new AgentCrash(reason, '', 'settings');
      const kind = kinds.get(id);
      if (kind === 'mode') return setMode(sessionId, value, timeoutMs);
      if (kind !== 'model') return configure(sessionId, id, kind === 'boolean' ? value === 'true' : value, timeoutMs);
      await requests().send('session/set_model', { sessionId, modelId: value }, timeoutMs);
      replaceCurrent(id, value);
    },
  };
}

function hasOptions(response: unknown): boolean {
  return Array.isArray((response as { configOptions?: unknown } | null)?.configOptions);
}
