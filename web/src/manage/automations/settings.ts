import { asText } from './action.ts';

/**
 * The settings of an automation besides its name, triggers and actions, as the service takes them; unset ones are null.
 */
export interface Settings {
  readonly runAs: { readonly type: string };
  readonly limits: {
    readonly maxAcuLimit?: number;
    readonly invocations?: { readonly maxPerWindow: number; readonly windowSeconds: number };
  } | null;
  readonly concurrency: { readonly maxConcurrentRuns?: number; readonly maxQueueDepth?: number } | null;
  readonly missedRuns: string | null;
  readonly jitterSeconds: number | null;
  readonly metadata: unknown;
  readonly notifications: unknown;
  readonly sessionSettings: unknown;
  readonly securityProfile: unknown;
  readonly templateId: string | null;
  readonly tools: unknown;
}

/** Settings in a form: numbers as typed, empty if not set. */
export interface SettingsDraft {
  readonly runAs: string;
  readonly maxAcuLimit: string;
  readonly maxPerWindow: string;
  readonly windowSeconds: string;
  readonly maxConcurrentRuns: string;
  readonly maxQueueDepth: string;
  readonly missedRuns: string;
  readonly jitterSeconds: string;
  /** JSON of the settings without a field. */
  readonly more: string;
}

/** The settings that the form shows as JSON. */
export const moreSettings = [
  'metadata',
  'notifications',
  'sessionSettings',
  'securityProfile',
  'templateId',
  'tools',
] as const;

/** The initial settings of a new automation. */
export const noSettings: Settings = {
  runAs: { type: 'ORGANIZATION' },
  limits: null,
  concurrency: null,
  missedRuns: null,
  jitterSeconds: null,
  metadata: null,
  notifications: null,
  sessionSettings: null,
  securityProfile: null,
  templateId: null,
  tools: null,
};

/** Converts settings to their form. */
export function readSettings(settings: Settings): SettingsDraft {
  const { limits, concurrency } = settings;
  const more = moreSettings.flatMap((name) => (settings[name] == null ? [] : [[name, settings[name]] as const]));
  return {
    runAs: settings.runAs.type,
    maxAcuLimit: typed(limits?.maxAcuLimit),
    maxPerWindow: typed(limits?.invocations?.maxPerWindow),
    windowSeconds: typed(limits?.invocations?.windowSeconds),
    maxConcurrentRuns: typed(concurrency?.maxConcurrentRuns),
    maxQueueDepth: typed(concurrency?.maxQueueDepth),
    missedRuns: settings.missedRuns ?? 'LATEST',
    jitterSeconds: typed(settings.jitterSeconds),
    more: more.length > 0 ? asText(Object.fromEntries(more)) : '',
  };
}

/** Converts a form to settings. Throws an Error with a sentence for invalid JSON or unknown settings. */
export function writeSettings(draft: SettingsDraft, base: Settings): Settings {
  const before = readSettings(base);
  const limits = {
    ...numberAt('maxAcuLimit', draft.maxAcuLimit),
    ...(draft.maxPerWindow === '' && draft.windowSeconds === ''
      ? {}
      : { invocations: { maxPerWindow: Number(draft.maxPerWindow), windowSeconds: Number(draft.windowSeconds) } }),
  };
  const concurrency = {
    ...numberAt('maxConcurrentRuns', draft.maxConcurrentRuns),
    ...numberAt('maxQueueDepth', draft.maxQueueDepth),
  };
  const isSame = (...names: (keyof SettingsDraft)[]) => names.every((name) => draft[name] === before[name]);
  return {
    ...base,
    runAs: isSame('runAs') ? base.runAs : { type: draft.runAs },
    limits: isSame('maxAcuLimit', 'maxPerWindow', 'windowSeconds') ? base.limits : orNull(limits),
    concurrency: isSame('maxConcurrentRuns', 'maxQueueDepth') ? base.concurrency : orNull(concurrency),
    missedRuns: isSame('missedRuns') ? base.missedRuns : draft.missedRuns,
    jitterSeconds: draft.jitterSeconds === '' ? null : Number(draft.jitterSeconds),
    ...(isSame('more') ? {} : readMore(draft.more)),
  };
}

function readMore(text: string): Partial<Settings> {
  const parsed: unknown = text.trim() === '' ? {} : JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new Error('This must be an object, such as {"metadata": {"team": "floor"}}.');
  }
  const stranger = Object.keys(parsed).find((name) => !(moreSettings as readonly string[]).includes(name));
  if (stranger !== undefined) {
    throw new Error(`Unknown setting "${stranger}". Allowed settings: ${moreSettings.join(', ')}.`);
  }
  return Object.fromEntries(moreSettings.map((name) => [name, (parsed as Record<string, unknown>)[name] ?? null]));
}

const typed = (value: number | null | undefined) => (value == null ? '' : String(value));
const numberAt = (name: string, text: string) => (text === '' ? {} : { [name]: Number(text) });
const orNull = <T extends object>(value: T): T | null => (Object.keys(value).length > 0 ? value : null);
