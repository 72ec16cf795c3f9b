import type { automationFragment_automation$data } from '../../__generated__/automationFragment_automation.graphql.ts';
import { draft as texts } from '../../texts/automation-form.ts';
import { type Action, type ActionDraft, newAction, readAction, type SessionOptions, writeAction } from './action.ts';
import type { Problems } from './problems.ts';
import { ruleProblem } from './rule.ts';
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

/** An automation in a form. */
export interface Draft {
  readonly name: string;
  readonly triggers: readonly TriggerDraft[];
  readonly actions: readonly ActionDraft[];
  readonly settings: SettingsDraft;
}

/** The initial values of a new automation. */
export const newDraft = (): Draft => ({
  name: '',
  triggers: [newTrigger()],
  actions: [newAction('start_session')],
  settings: readSettings(noSettings),
});

/** Converts an automation to its form. */
export const readDraft = (definition: Definition, typeOf: FieldTypes): Draft => ({
  name: definition.name,
  triggers: definition.triggers.map((trigger) => readTrigger(trigger, typeOf)),
  actions: definition.actions.map(readAction),
  settings: readSettings(definition),
});

/** Converts the service's automation to the form of its input: unset fields are removed. */
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

/** The changes of a draft compared with `base`; empty if there are none. Throws an Error for invalid JSON. */
export function changesOf(draft: Draft, base: Definition, typeOf: FieldTypes): Partial<Definition> {
  const wanted = writeDraft(draft, base, typeOf);
  const names = Object.keys(wanted) as (keyof Definition)[];
  const changed = names.filter((name) => JSON.stringify(wanted[name]) !== JSON.stringify(base[name]));
  return Object.fromEntries(changed.map((name) => [name, wanted[name]]));
}

/** Converts a draft to the service's input. `base`: the stored version; null for a new one. */
export function writeDraft(draft: Draft, base: Definition | null, typeOf: FieldTypes): Definition {
  // First, so that the other fields are kept as stored.
  return {
    ...writeSettings(draft.settings, base ?? noSettings),
    name: draft.name.trim(),
    triggers: draft.triggers.map((trigger) => writeTrigger(trigger, typeOf)),
    actions: draft.actions.map(writeAction),
  };
}

/**
 * Problems that can be found without the service: invalid JSON, at `more` of its part; a weekly rule without weekdays.
 */
export function problemsOf(draft: Draft): Problems {
  const attempt = (path: readonly string[], run: () => unknown): Problems => {
    try {
      run();
      return [];
    } catch (error) {
      const isSyntax = error instanceof SyntaxError;
      return [{ message: isSyntax ? texts.notJson({ message: error.message }) : (error as Error).message, path }];
    }
  };
  return [
    ...draft.triggers.flatMap(({ eventType, rule }, n) => {
      const message = eventType === recurring ? ruleProblem(rule) : null;
      return message === null ? [] : [{ message, path: ['triggers', String(n), 'conditions'] }];
    }),
    ...draft.actions.flatMap((action, n) => attempt(['actions', String(n), 'more'], () => writeAction(action))),
    ...attempt(['more'], () => writeSettings(draft.settings, noSettings)),
  ];
}

// Removes nulls at every depth: in the service's data, null equals a missing field.
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
