import { newKey } from './trigger.ts';

/** How a session is started, as the service takes it: what is not set is left out. */
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

/** An action as it stands in a form; what its type has no use for waits there, should another be chosen. */
export interface ActionDraft {
  /** Tells it from the others while the form is open. */
  readonly key: number;
  readonly type: Action['type'];
  readonly prompt: string;
  readonly playbookId: string;
  /** Between commas. */
  readonly tags: string;
  /** Between commas. */
  readonly repos: string;
  /** An id in any form, or the address of the session's page. */
  readonly target: string;
  readonly autoCreate: boolean;
  /** JSON of what the form has no field for. */
  readonly more: string;
  /** What it was made from; null: it is new. */
  readonly base: Action | null;
}

/** What a new action begins with. */
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

/** An action as a form shows it. */
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

/** An action as the service takes it; fields that were not touched are as they came. SyntaxError for JSON that is none. */
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

/** JSON as a form shows it. */
export const asText = (value: unknown): string => JSON.stringify(value, null, 2);

const asJson = (text: string): unknown => (text.trim() === '' ? {} : JSON.parse(text));

/** The id in what somebody put in: an id, or the address of a session's page. */
export const sessionIdOf = (text: string): string => /([^/?#\s]+)\/?(?:[?#].*)?$/.exec(text.trim())?.[1] ?? '';

/** The words of a text, between commas or on lines of their own. */
function splitList(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
