import { isDeepStrictEqual } from 'node:util';
import { oneLine } from '../../../agents/acp/text-limits.ts';
import { AgentCrash, type AgentProcess, type AgentProfile } from '../../../agents/agent.ts';
import { type AgentOffer, emptyOffer } from '../../../agents/options/agent-option.ts';
import { isLockedId } from '../../../agents/options/locks.ts';
import { lockSession, notifySession } from '../../sessions/change-session.ts';
import { appendEntries, type NewEntry } from '../../sessions/log.ts';
import { recordObservation } from '../../sessions/options/observations.ts';
import {
  isPending,
  type OptionChoice,
  readStoredOptions,
  type StoredOption,
  withOffer,
  withOutcome,
  writeStoredOptions,
} from '../../sessions/options/stored-options.ts';
import type { LeasedRun } from './leased-run.ts';
import { maskOffer } from './mask-offer.ts';
import type { Mask } from './masking.ts';

/** The options of a run's agent: stores what the agent states, and sets what the user has chosen. */
export interface OptionControl {
  /** Called after each change of the agent's offer; it is stored within a second. */
  offered(offer: AgentOffer): void;
  /** Stores the offer of an agent whose session was opened, and sets all choices of the user. */
  opened(agent: AgentProcess, how: 'new' | 'resume' | 'load'): Promise<void>;
  /**
   * Sets the choices that the user has made since then, between two turns. Returns also if the agent refuses one, does not
   * answer or ends.
   */
  applyPending(): Promise<void>;
  /** Stores the last offer. Never rejects. */
  settled(): Promise<void>;
}

/** Delay before a changed offer is stored: an agent may change its options in quick succession. */
const storeDelayMs = 1_000;
/** Maximum length of an agent's reason in the log. */
const maxReasonLength = 500;

/** The agent of a run. */
interface ControlledAgent {
  readonly organizationId: string;
  readonly profile: AgentProfile;
  /** The model with which the agent starts; null: its own default. */
  readonly model: LaunchedModel | null;
  readonly mask: Mask;
}

/** A model as its provider names it. */
export interface LaunchedModel {
  readonly id: string;
  /** Precedes the id in the agent's option `model`. */
  readonly prefix: string;
}

/** Creates the options of one run. */
export function createOptionControl(
  leasedRun: LeasedRun,
  { organizationId, profile, model, mask }: ControlledAgent,
): OptionControl {
  const { context, run } = leasedRun;
  const { sessionId } = run;
  let agent: AgentProcess | null = null;
  let latest: AgentOffer = emptyOffer;
  let observedShape = '';
  let hasStored = false;
  let timer: NodeJS.Timeout | undefined;
  let storing: Promise<void> = Promise.resolve();

  const readStored = async () => {
    const [stored = []] = await readStoredOptions(context.store, [sessionId]);
    hasStored = stored.length > 0;
    return stored;
  };

  /** Changes the stored options, and writes entries with them. Throws FencedError. */
  const change = (edit: (stored: readonly StoredOption[]) => StoredOption[], entries: readonly NewEntry[] = []) =>
    context.store.transact(async (tx) => {
      const session = await lockSession(tx, sessionId, run.generation);
      const [stored = []] = await readStoredOptions(tx, [sessionId]);
      const next = edit(stored);
      const isChanged = !isDeepStrictEqual(next, stored);
      if (isChanged) await writeStoredOptions(tx, sessionId, next);
      if (entries.length > 0) await appendEntries(tx, sessionId, run.generation, entries, context.now());
      if (isChanged || entries.length > 0) notifySession(context, tx, session);
    });

  const observe = async (offer: AgentOffer, isDefault: boolean) => {
    observedShape = shapeOf(offer);
    const version = agent?.version ?? null;
    const profileId = profile.id;
    const observation = { organizationId, profileId, version: version && mask(version), offer, isDefault };
    await recordObservation(context, observation).catch((err: unknown) => {
      context.log.warn({ err, sessionId }, 'The options of an agent could not be stored.');
    });
  };

  const store = async () => {
    // An agent without options needs no statement.
    if (latest.options.length === 0 && !hasStored) return;
    const offer = maskOffer(latest, mask);
    const stored = await readStored();
    if (!isDeepStrictEqual(withOffer(stored, offer), stored)) await change((before) => withOffer(before, offer));
    // The default of a new session is not known once the user has chosen something.
    const isDefault = stored.every(({ chosen }) => chosen === null);
    if (isDefault && shapeOf(offer) !== observedShape) await observe(offer, true);
  };

  const storeNext = () => {
    clearTimeout(timer);
    timer = undefined;
    storing = storing
      .then(() => (leasedRun.isLost ? undefined : store()))
      .catch((error: unknown) => leasedRun.lose(error));
    return storing;
  };

  /** Returns the reason why the agent does not have a value now, as a sentence; null: it has it. */
  const set = async (current: AgentProcess, { optionId, value }: OptionChoice): Promise<string | null> => {
    if (isLockedId(profile, optionId, current.offer())) return 'The configuration of the agent locks it.';
    const offered = current.offer().options.find(({ id }) => id === optionId);
    const isModel = optionId === 'model' && model !== null;
    // An agent that offers no models was started with the right one.
    if (isModel && offered === undefined && [model.id, model.prefix + model.id].includes(value)) return null;
    const prefix = isModel && offered?.values.some((each) => each.value === model.prefix + value) ? model.prefix : '';
    if (offered?.currentValue === prefix + value) return null;
    try {
      await current.setOption(optionId, prefix + value);
      return null;
    } catch (error) {
      if (error instanceof AgentCrash) return error.message;
      throw error;
    }
  };

  const apply = async (current: AgentProcess, choice: OptionChoice, isNew: boolean) => {
    const reason = await set(current, choice);
    // The agent is being stopped: the next one gets the choice.
    if (leasedRun.isOver) return;
    const offer = maskOffer(current.offer(), mask);
    const [option, value] = namesOf(offer, choice, mask);
    const body =
      reason === null
        ? `${option} is now ${value}.`
        : `${option} was not set to ${value}. ${mask(reason).slice(0, maxReasonLength)}`;
    const entries: NewEntry[] = reason === null && !isNew ? [] : [{ kind: 'NOTICE', body }];
    await change((stored) => withOffer(withOutcome(stored, choice, reason === null), offer), entries);
  };

  const applyAll = async (current: AgentProcess, isDue: (option: StoredOption) => boolean) => {
    const tried = new Set<string>();
    while (!leasedRun.isOver) {
      const due = (await readStored()).flatMap((option) => {
        const { id, chosen } = option;
        if (chosen === null || !isDue(option) || tried.has(JSON.stringify([id, chosen]))) return [];
        return [{ choice: { optionId: id, value: chosen }, isNew: isPending(option) }];
      });
      const [next] = due.toSorted((a, b) => rankOf(current, a.choice) - rankOf(current, b.choice));
      if (!next) return;
      tried.add(JSON.stringify([next.choice.optionId, next.choice.value]));
      await apply(current, next.choice, next.isNew);
    }
  };

  return {
    offered(offer) {
      latest = offer;
      if (agent === null) return;
      timer ??= setTimeout(() => void storeNext(), storeDelayMs).unref();
    },
    async opened(opened, how) {
      const offer = maskOffer(opened.offer(), mask);
      agent = opened;
      latest = opened.offer();
      // Later changes are stored after it.
      storing = observe(offer, how === 'new');
      await applyAll(opened, () => true);
      void storeNext();
    },
    async applyPending() {
      if (agent !== null) await applyAll(agent, isPending);
    },
    async settled() {
      if (timer !== undefined) void storeNext();
      await storing;
    },
  };
}

/** Returns the names of an option and its value as a sentence begins with them; ids in quotes where the agent states no names. */
function namesOf({ options }: AgentOffer, { optionId, value }: OptionChoice, mask: Mask): [string, string] {
  const quoted = (text: string) => JSON.stringify(oneLine(mask(text)));
  const option = options.find(({ id }) => id === optionId);
  const chosen = option?.values.find((each) => each.value === value);
  return [option?.name || `The option ${quoted(optionId)}`, chosen?.name || quoted(value)];
}

/** The options and values of an offer, without their current values. */
function shapeOf({ options, hasMoreOptions }: AgentOffer): string {
  return JSON.stringify([options.map((option) => ({ ...option, currentValue: '' })), hasMoreOptions]);
}

/** The model comes first, because the values of other options may depend on it, and then the agent's own order. */
function rankOf(agent: AgentProcess, { optionId }: OptionChoice): number {
  const { options } = agent.offer();
  const index = options.findIndex(({ id }) => id === optionId);
  if (index < 0) return options.length;
  return options[index]?.category === 'model' ? -1 : index;
}
