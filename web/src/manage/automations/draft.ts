import type { automationFragment_automation$data } from '../../__generated__/automationFragment_automation.graphql.ts';
import { type Action, type ActionDraft, newAction, readAction, type SessionOptions, writeAction } from './action.ts';
import type { Problems } from './problems.ts';
import { lacksDays, noDays } from './rule.ts';
import { noSettings, readSettings, type Settings, type SettingsDraft, writeSettings } from './settings.ts';
import {
  conditionsOf,
  type FieldTypes,
  newTrigger,
  readTrigger,
  recurring,
  type Trigger,
  type TriggerDraft,
  writeTrigger,
} from './trigger.ts';

/** An automation as the service takes it. */
export interface Definition extends Settings {
  readonly name: string;
  readonly triggers: readonly Trigger[];
  readonly actions: readonly Action[];
}

/** An automation as it stands in a form. */
export interface Draft {
  readonly name: string;
  readonly triggers: readonly TriggerDraft[];
  readonly actions: readonly ActionDraft[];
  readonly settings: SettingsDraft;
}

/** What a new automation begins with. */
export const newDraft = (): Draft => ({
  name: '',
  triggers: [newTrigger()],
  actions: [newAction('start_session')],
  settings: readSettings(noSettings),
});

/** An automation as a form shows it. */
export const readDraft = (definition: Definition, typeOf: FieldTypes): Draft => ({
  name: definition.name,
  triggers: definition.triggers.map((trigger) => readTrigger(trigger, typeOf)),
  actions: definition.actions.map(readAction),
  settings: readSettings(definition),
});

/** An automation that the service gave, as it would take it: without what is not set. */
export function definitionOf(automation: Omit<automationFragment_automation$data, ' $fragmentType'>): Definition {
  const { name, runAs, triggers, actions, missedRuns, jitterSeconds, metadata, templateId, ...options } = automation;
  return {
    name,
    runAs: { type: runAs.type },
    triggers: triggers.map(({ eventType, conditions, rule, timeZone, replies }) => ({
      eventType,
      conditions: rule === undefined ? (conditions ?? null) : conditionsOf(rule),
      timeZone: timeZone ?? null,
      replies,
    })),
    actions: actions.flatMap((action) => actionOf(action) ?? []),
    limits: set(options.limits),
    concurrency: set(options.concurrency),
    missedRuns: missedRuns ?? null,
    jitterSeconds: jitterSeconds ?? null,
    metadata: metadata ?? null,
    notifications: set(options.notifications),
    sessionSettings: set(options.sessionSettings),
    securityProfile: set(options.securityProfile),
    templateId: templateId ?? null,
    tools: set(options.tools),
  };
}

function actionOf(action: automationFragment_automation$data['actions'][number]): Action | null {
  switch (action.__typename) {
    case 'StartSessionAction': {
      const { prompt, session } = action;
      return { type: 'start_session', prompt, ...(session && { session: set(session) as SessionOptions }) };
    }
    case 'MessageSessionAction': {
      const { prompt, targetSessionId, autoCreate } = action;
      const type = 'message_session';
      return { type, prompt, ...(targetSessionId && { targetSessionId }), ...(autoCreate && { autoCreate }) };
    }
    case 'MonitorSessionAction': {
      const { setupPrompt, slackMonitorConfig } = action;
      return { type: 'monitor_session', setupPrompt, slackMonitorConfig };
    }
    default:
      return null;
  }
}

/** What is to be changed of `given`: nothing where the draft says the same. Throws an Error for JSON that is none. */
export function changesOf(draft: Draft, base: Definition, typeOf: FieldTypes): Partial<Definition> {
  const wanted = writeDraft(draft, base, typeOf);
  const names = Object.keys(wanted) as (keyof Definition)[];
  const changed = names.filter((name) => JSON.stringify(wanted[name]) !== JSON.stringify(base[name]));
  return Object.fromEntries(changed.map((name) => [name, wanted[name]]));
}

/** A draft as the service takes it. `given`: what it was made from; null: it is new. */
export function writeDraft(draft: Draft, base: Definition | null, typeOf: FieldTypes): Definition {
  // First: of what they are made from, all else comes along.
  return {
    ...writeSettings(draft.settings, base ?? noSettings),
    name: draft.name.trim(),
    triggers: draft.triggers.map((trigger) => writeTrigger(trigger, typeOf)),
    actions: draft.actions.map(writeAction),
  };
}

/** What can be told of a draft without the service: JSON that is none, at `more` of the part that it stands in; no day of a week. */
export function problemsOf(draft: Draft): Problems {
  const attempt = (path: readonly string[], run: () => unknown): Problems => {
    try {
      run();
      return [];
    } catch (error) {
      const isSyntax = error instanceof SyntaxError;
      return [{ message: isSyntax ? `This is no JSON: ${error.message}.` : (error as Error).message, path }];
    }
  };
  return [
    ...draft.triggers.flatMap(({ eventType, rule }, n) =>
      eventType === recurring && lacksDays(rule)
        ? [{ message: noDays, path: ['triggers', String(n), 'conditions'] }]
        : [],
    ),
    ...draft.actions.flatMap((action, n) => attempt(['actions', String(n), 'more'], () => writeAction(action))),
    ...attempt(['more'], () => writeSettings(draft.settings, noSettings)),
  ];
}

// Without nulls at any depth: of what the service describes, null says the same as nothing.
function set<T>(value: T): NoNulls<T> {
  if (Array.isArray(value)) return value.map(set) as NoNulls<T>;
  if (typeof value !== 'object' || value === null) return (value ?? null) as NoNulls<T>;
  const present = Object.entries(value).filter(([, each]) => each != null);
  return Object.fromEntries(present.map(([name, each]) => [name, set(each)])) as NoNulls<T>;
}

type NoNulls<T> = T extends readonly (infer Item)[]
  ? readonly NoNulls<Item>[]
  : T extends object
    ? { readonly [Name in keyof T as null extends T[Name] ? never : Name]: NoNulls<T[Name]> } & {
        readonly [Name in keyof T as null extends T[Name] ? Name : never]?: NoNulls<NonNullable<T[Name]>>;
      }
    : T extends undefined
      ? null
      : T;
