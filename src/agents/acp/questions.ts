import { randomUUID } from 'node:crypto';
import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import type { AgentProfile, AgentUpdate, QuestionOption } from '../agent.ts';
import { brief, storable, truncate } from './wording.ts';

/** The most answers that are offered with a question. */
const mostOptions = 200;

/** What the agent asks of its client: permissions by the profile's policy, forms and the rest of the user. */
export interface Questions {
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  elicitation(request: CreateElicitationRequest): Promise<CreateElicitationResponse>;
  /** Gives the user's words to the question that was put to them; false when it is not open. The next is put then. */
  answer(questionId: string, text: string): boolean;
  /** Ends every open question, and each that still comes: agents wait for that after a cancel. */
  cancelAll(): void;
  /** Lets questions be asked, also after {@link cancelAll}. */
  open(): void;
  /** Whether something is asked and not answered. The agent may go on with other work meanwhile. */
  isAnyOpen(): boolean;
}

type Option = RequestPermissionRequest['options'][number];

interface Asked {
  readonly update: Extract<AgentUpdate, { type: 'question' }>;
  isPut: boolean;
  readonly resolve: (words: string | null) => void;
}

/**
 * `report` puts an update into the agent's stream, in order. Agents ask while a question is open (tools that run side by
 * side); a session has one at a time, so that it is clear what the user's words answer. `onAsked` hears of each question for
 * the user when it comes: which tool call it is about, if that was said, and whether no other was open.
 */
export function createQuestions(
  policy: AgentProfile['permission'],
  report: (update: AgentUpdate) => void,
  onAsked: (toolCallId: string | null, isFirst: boolean) => void,
): Questions {
  const asked: Asked[] = [];
  let isCancelled = false;

  const putFirst = () => {
    const [first] = asked;
    if (first === undefined || first.isPut) return;
    first.isPut = true;
    report(first.update);
  };

  const ask = (
    text: string,
    options: readonly QuestionOption[],
    reason: 'question' | 'permission',
    toolCallId: string | null,
  ) => {
    if (isCancelled) return Promise.resolve(null);
    onAsked(toolCallId, asked.length === 0);
    const named = options.slice(0, mostOptions).map(({ id, name }) => ({ id: storable(id), name: brief(name) }));
    const update = {
      type: 'question',
      questionId: randomUUID(),
      text: truncate(text),
      options: named,
      reason,
    } as const;
    return new Promise<string | null>((resolve) => {
      asked.push({ update, isPut: false, resolve });
      if (asked.length === 1) putFirst();
    });
  };

  const choose = async (request: RequestPermissionRequest): Promise<Option | null> => {
    if (isCancelled) return null;
    if (policy !== 'ask') return pick(request.options, policy === 'auto' ? 'allow' : 'reject');
    const title = brief(request.toolCall.title ?? 'a tool');
    const options = request.options.map(({ optionId, name }) => ({ id: optionId, name }));
    const words = await ask(`May I run ${title}?`, options, 'permission', request.toolCall.toolCallId);
    return words === null ? null : matchOption(request.options, words);
  };

  return {
    async permission(request) {
      const { toolCallId, title } = request.toolCall;
      const option = await choose(request);
      const decision = option === null ? 'cancelled' : option.kind.startsWith('allow') ? 'allowed' : 'denied';
      report({
        type: 'permission',
        toolCallId: brief(toolCallId),
        title: brief(title ?? 'Tool call'),
        decision,
      });
      return {
        outcome: option === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option.optionId },
      };
    },
    async elicitation(request) {
      if (request.mode !== 'form') return { action: 'decline' };
      const form = fieldOf(request);
      const { toolCallId } = request as { toolCallId?: unknown };
      const about = typeof toolCallId === 'string' ? toolCallId : null;
      const words = await ask(request.message, form.options, 'question', about);
      if (words === null) return { action: 'cancel' };
      return { action: 'accept', content: { [form.name]: fillField(form, words) } };
    },
    answer(questionId, text) {
      const [first] = asked;
      if (first?.update.questionId !== questionId) return false;
      asked.shift();
      first.resolve(text);
      // Not at once: what came of this one is told first.
      setImmediate(putFirst);
      return true;
    },
    open() {
      isCancelled = false;
    },
    cancelAll() {
      isCancelled = true;
      for (const { resolve } of asked.splice(0)) resolve(null);
    },
    isAnyOpen: () => asked.length > 0,
  };
}

interface Choice {
  const: string;
  title?: string;
}

interface FieldSchema {
  type?: string;
  enum?: string[] | null;
  oneOf?: Choice[] | null;
  items?: { enum?: string[] | null; anyOf?: Choice[] | null } | null;
}

interface Field {
  readonly name: string;
  readonly type: string;
  readonly options: readonly QuestionOption[];
}

// The one field that a user's words can fill: the first that takes text, else the first of all.
function fieldOf(request: object): Field {
  const { requestedSchema } = request as { requestedSchema?: { properties?: Record<string, FieldSchema> } };
  const fields = Object.entries(requestedSchema?.properties ?? {});
  const [name, schema] = fields.find(([, each]) => each.type === 'string') ?? fields[0] ?? ['answer', {}];
  const plain = schema.enum ?? schema.items?.enum ?? [];
  const titled = schema.oneOf ?? schema.items?.anyOf ?? plain.map((value): Choice => ({ const: value }));
  const options = titled.map((choice) => ({ id: choice.const, name: choice.title ?? choice.const }));
  return { name, type: schema.type ?? 'string', options };
}

function fillField({ type, options }: Field, words: string): string | number | boolean | string[] {
  const said = pickOption(options, words)?.id ?? words;
  if (type === 'array') return [said];
  if (type === 'boolean') return isYes(words);
  const number = Number(words.trim());
  return (type === 'number' || type === 'integer') && Number.isFinite(number) ? number : said;
}

function isYes(words: string): boolean {
  return /^(y|yes|ok|okay|allow|sure|true)\b/i.test(words.trim());
}

// Once rather than always: an answer for good changes the agent's mode, and Gemini CLI then says so in its messages.
function pick(options: readonly Option[], verb: 'allow' | 'reject'): Option | null {
  const byKind = (kind: string) => options.find((option) => option.kind === kind);
  return byKind(`${verb}_once`) ?? byKind(`${verb}_always`) ?? null;
}

// A user's words for a permission: an option by its number or name, else yes or no; anything else is a no.
function matchOption(options: readonly Option[], words: string): Option | null {
  const named = pickOption(options, words);
  if (named) return named;
  return pick(options, isYes(words) ? 'allow' : 'reject');
}

function pickOption<T extends { name: string }>(options: readonly T[], words: string): T | null {
  const said = words.trim().toLowerCase();
  const byNumber = /^\d{1,3}\.?$/.test(said) ? options[Number.parseInt(said, 10) - 1] : undefined;
  return byNumber ?? options.find((option) => option.name.toLowerCase() === said) ?? null;
}
