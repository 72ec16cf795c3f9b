import { newKey } from './trigger.ts';

/** The options of a new session, as the service takes them; unset options are missing. */
export interface SessionOptions {
  readonly tags?: readonly string[];
  readonly playbookId?: string;
  readonly repos?: readonly string[];
  readonly platform?: string;
  readonly bypassApproval?: boolean;
  readonly notifications?: unknown;
}

/** An action as the service takes it. */
export type Action =
  | { readonly type: 'start_session'; readonly prompt: string; readonly session?: SessionOptions }
  | {
      readonly type: 'message_session';
      readonly prompt: string;
      readonly targetSessionId?: string;
      readonly autoCreate?: boolean;
    }
  | { readonly type: 'monitor_session'; readonly setupPrompt: string; readonly slackMonitorConfig: unknown };

/** An action in a form. Values that its type does not use are kept in case the user changes the type. */
export interface ActionDraft {
  /** Identifies it while the form is open. */
  readonly key: number;
  readonly type: Action['type'];
  readonly prompt: string;
  readonly playbookId: string;
  /** Separated by commas. */
  readonly tags: string;
  /** Separated by commas. */
  readonly repos: string;
  /** An id in any form, or the URL of the session's page. */
  readonly target: string;
  readonly autoCreate: boolean;
  /** JSON of the options without a field. */
  readonly more: string;
  /** The stored action; null for a new one. */
  readonly base: Action | null;
}

/** The initial values of a new action. */
export const newAction = (type: Action['type']): ActionDraft => ({
  key: newKey(),
  type,
  prompt: '',
  playbookId: '',
  tags: '',
  repos: '',
  target: '',
  autoCreate: false,
  more: '',
  base: null,
});

/** Converts an action to its form. */
export function readAction(action: Action): ActionDraft {
  const draft: ActionDraft = { ...newAction(action.type), base: action };
  if (action.type === 'monitor_session') {
    return { ...draft, prompt: action.setupPrompt, more: asText(action.slackMonitorConfig) };
  }
  if (action.type === 'message_session') {
    const { prompt, targetSessionId = '', autoCreate = false } = action;
    return { ...draft, prompt, target: targetSessionId, autoCreate };
  }
  const { tags = [], playbookId = '', repos = [], ...others } = action.session ?? {};
  return {
    ...draft,
    prompt: action.prompt,
    playbookId,
    tags: tags.join(', '),
    repos: repos.join(', '),
    more: Object.keys(others).length > 0 ? asText(others) : '',
  };
}

/** Converts a form to an action; unchanged fields keep their stored value. SyntaxError for invalid JSON. */
export function writeAction(draft: ActionDraft): Action {
  const before = draft.base?.type === draft.type ? readAction(draft.base) : null;
  const { type, prompt } = draft;
  if (draft.base && before && isSame(draft, before)) return draft.base;
  if (type === 'monitor_session') {
    return { type, setupPrompt: prompt, slackMonitorConfig: asJson(draft.more) };
  }
  if (type === 'message_session') {
    const targetSessionId = sessionIdOf(draft.target);
    return {
      type,
      prompt,
      ...(targetSessionId === '' ? {} : { targetSessionId }),
      ...(draft.autoCreate ? { autoCreate: true } : {}),
    };
  }
  const baseSession = draft.base?.type === 'start_session' ? draft.base.session : undefined;
  const tags = before?.tags === draft.tags ? baseSession?.tags : splitList(draft.tags);
  const repos = before?.repos === draft.repos ? baseSession?.repos : splitList(draft.repos);
  const session = {
    ...(tags ? { tags } : {}),
    ...(draft.playbookId === '' ? {} : { playbookId: draft.playbookId }),
    ...(repos ? { repos } : {}),
    ...(asJson(draft.more) as object),
  };
  return { type, prompt, session };
}

const fields = ['prompt', 'playbookId', 'tags', 'repos', 'target', 'autoCreate', 'more'] as const;
const isSame = (one: ActionDraft, other: ActionDraft) => fields.every((name) => one[name] === other[name]);

/** Formats JSON for a form. */
export const asText = (value: unknown): string => JSON.stringify(value, null, 2);

const asJson = (text: string): unknown => (text.trim() === '' ? {} : JSON.parse(text));

/** Finds the id in the user's input: an id, or the URL of a session's page. */
export const sessionIdOf = (text: string): string => /([^/?#\s]+)\/?(?:[?#].*)?$/.exec(text.trim())?.[1] ?? '';

/** Splits a text at commas and line breaks. */
export function splitList(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
