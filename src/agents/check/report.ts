import { z } from 'zod';
import type { AgentProfile } from '../agent.ts';
import type { AgentExchange } from '../agent-exchange.ts';
import type { AgentOffer } from '../options/agent-option.ts';
import { isLocked } from '../options/locks.ts';
import type { ToolCheck } from './tool-check.ts';

/** The result of checking one optional feature of an agent. */
export type Outcome =
  | { readonly state: 'works'; readonly tookMs: number }
  | { readonly state: 'failed'; readonly reason: string }
  | { readonly state: 'not offered' | 'not tried' | 'switched off' };

/** The result of a check. Times are in milliseconds. */
export interface AgentReport extends AgentDescription {
  readonly id: string;
  readonly command: readonly string[];
  /** The name of its driver. */
  readonly sandbox: string;
  /** The reason why the agent cannot be used, as a sentence; null: it can. */
  readonly failure: string | null;
  /** The session's options with their current values. */
  readonly options: readonly CheckedOption[];
  /** Likely problems of its profile, as sentences. */
  readonly warnings: readonly string[];
  /** The time from its start until its session was open; null if that never happened. */
  readonly readyMs: number | null;
  readonly mcp: Outcome;
  /** The service's tools that its model was offered, as seen by the gateway in a turn; null if unknown. */
  readonly tools: ToolCheck | null;
  readonly close: Outcome;
  readonly resume: Outcome;
  readonly load: Outcome;
  /** Its text in the turn; null: there was no turn. */
  readonly answer: string | null;
}

/** An option that the agent offers. */
export interface CheckedOption {
  readonly id: string;
  readonly value: string;
  readonly choices: readonly string[];
  /** True if the profile locks it for users. */
  readonly isLocked: boolean;
}

/** Describes the options of an offer, with the locks of a profile. */
export function describeOptions({ options }: AgentOffer, profile: AgentProfile): CheckedOption[] {
  return options.map((option) => ({
    id: option.id,
    value: option.currentValue,
    choices: option.values.map(({ value }) => value),
    isLocked: isLocked(profile, option),
  }));
}

/** A sentence for each option that a profile locks and the agent does not offer. */
export function unknownLocks({ options, hasMoreOptions }: AgentOffer, { lockedOptions }: AgentProfile): string[] {
  if (hasMoreOptions || lockedOptions === null) return [];
  return lockedOptions
    .filter((locked) => !options.some(({ id }) => id === locked))
    .map((id) => `Its "locked_options" name ${JSON.stringify(id)}, which the agent does not offer.`);
}

/** An agent's self-description. */
export interface AgentDescription {
  readonly name: string | null;
  readonly version: string | null;
  readonly protocolVersion: number | null;
  /** The features that it offers, such as `load`, `resume` and `close`. */
  readonly offers: readonly string[];
  /** The kinds of content that it accepts in prompts, besides text and links, which every agent accepts. */
  readonly promptContent: readonly string[];
  readonly authMethods: readonly { readonly id: string; readonly name: string }[];
  readonly modes: readonly string[];
  readonly currentMode: string | null;
  /** The duration of each request that it answered. */
  readonly timings: readonly { readonly method: string; readonly tookMs: number }[];
}

// Agents' responses are untrusted: a value of another form counts as missing.
const loose = <T extends z.ZodRawShape>(shape: T) => z.looseObject(shape).catch({} as never);
const flags = z.record(z.string(), z.unknown()).catch({});
const text = z.string().nullish().catch(null);
const items = <T extends z.ZodType>(item: T) => z.array(item).catch([]);

const initialized = loose({
  protocolVersion: z.number().nullish().catch(null),
  agentInfo: loose({ name: text, title: text, version: text }).nullish(),
  agentCapabilities: loose({
    loadSession: z.boolean().nullish().catch(null),
    sessionCapabilities: flags.nullish(),
    promptCapabilities: flags.nullish(),
  }).nullish(),
  authMethods: items(z.looseObject({ id: z.string(), name: text })).nullish(),
});

const opened = loose({
  modes: loose({
    currentModeId: text,
    availableModes: items(z.looseObject({ id: z.string() })),
  }).nullish(),
});

/** Derives an agent's self-description from its responses. */
export function describeSelf(exchanges: readonly AgentExchange[]): AgentDescription {
  const resultOf = (method: string) => exchanges.find((each) => each.method === method && !each.error)?.result ?? {};
  const { protocolVersion, agentInfo, agentCapabilities, authMethods } = initialized.parse(resultOf('initialize'));
  const { modes } = opened.parse(resultOf('session/new'));
  const offered = Object.entries(agentCapabilities?.sessionCapabilities ?? {}).filter(([, value]) => value != null);
  return {
    name: agentInfo?.title ?? agentInfo?.name ?? null,
    version: agentInfo?.version ?? null,
    protocolVersion: protocolVersion ?? null,
    offers: [...(agentCapabilities?.loadSession ? ['load'] : []), ...offered.map(([name]) => name)],
    promptContent: [
      ...['text', 'link'],
      ...Object.entries(agentCapabilities?.promptCapabilities ?? {}).flatMap(([name, is]) =>
        is === true ? [name] : [],
      ),
    ],
    authMethods: (authMethods ?? []).map(({ id, name }) => ({ id, name: name ?? id })),
    modes: modes?.availableModes?.map(({ id }) => id) ?? [],
    currentMode: modes?.currentModeId ?? null,
    timings: exchanges.flatMap(({ method, tookMs, error }) => (error ? [] : [{ method, tookMs }])),
  };
}
