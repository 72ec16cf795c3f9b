import { z } from 'zod';
import type { AgentExchange } from '../agent.ts';
import type { ToolCheck } from './tool-check.ts';

/** What became of one of the things that agents may be able to do. */
export type Outcome =
  | { readonly state: 'works'; readonly tookMs: number }
  | { readonly state: 'failed'; readonly reason: string }
  | { readonly state: 'not offered' | 'not tried' | 'switched off' };

/** What a check found out. Times are in milliseconds. */
export interface AgentReport extends AgentDescription {
  readonly id: string;
  readonly command: readonly string[];
  readonly sandbox: 'none' | 'bwrap' | 'command';
  /** Why it cannot be used, in a sentence; null: it can. */
  readonly failure: string | null;
  /** What is likely to be wrong with its profile, in sentences. */
  readonly warnings: readonly string[];
  /** From its start until its session was open; null: it never was. */
  readonly readyMs: number | null;
  readonly mcp: Outcome;
  /** Which of the service's tools its model is shown, seen in a turn behind the gateway; null: not known. */
  readonly tools: ToolCheck | null;
  readonly close: Outcome;
  readonly resume: Outcome;
  readonly load: Outcome;
  /** What it said in its turn; null: there was none. */
  readonly answer: string | null;
}

/** What an agent says of itself. */
export interface AgentDescription {
  readonly name: string | null;
  readonly version: string | null;
  readonly protocolVersion: number | null;
  /** Of `load`, `resume`, `close` and others, those that it offers. */
  readonly offers: readonly string[];
  /** Kinds of content that it takes in prompts; every agent takes text and links. */
  readonly promptContent: readonly string[];
  readonly authMethods: readonly { readonly id: string; readonly name: string }[];
  readonly modes: readonly string[];
  readonly currentMode: string | null;
  /** The session's options with their present values. */
  readonly options: readonly { readonly id: string; readonly value: string; readonly choices: readonly string[] }[];
  /** How long each request took that it answered. */
  readonly timings: readonly { readonly method: string; readonly tookMs: number }[];
}

// Agents are not ours: what has another form counts as not said.
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
  configOptions: items(
    z.looseObject({
      id: z.string(),
      currentValue: z.unknown(),
      options: items(z.looseObject({ value: text, options: items(z.looseObject({ value: text })) })).nullish(),
    }),
  ).nullish(),
});

/** What an agent's own answers say of it. */
export function describeSelf(exchanges: readonly AgentExchange[]): AgentDescription {
  const resultOf = (method: string) => exchanges.find((each) => each.method === method && !each.error)?.result ?? {};
  const { protocolVersion, agentInfo, agentCapabilities, authMethods } = initialized.parse(resultOf('initialize'));
  const { modes, configOptions } = opened.parse(resultOf('session/new'));
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
    options: (configOptions ?? []).map(({ id, currentValue, options }) => ({
      id,
      value: String(currentValue),
      choices: (options ?? []).flatMap(({ value, options: grouped }) =>
        [value, ...grouped.map((each) => each.value)].filter((each) => each != null),
      ),
    })),
    timings: exchanges.flatMap(({ method, tookMs, error }) => (error ? [] : [{ method, tookMs }])),
  };
}
