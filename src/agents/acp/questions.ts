import { randomUUID } from 'node:crypto';
import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import type { AgentProfile, AgentUpdate, PermissionOptionKind, QuestionOption, QuestionReply } from '../agent.ts';
import { brief, oneLine, truncate } from './text-limits.ts';

/** The maximum number of options offered with a question. */
const maxOptions = 200;

/**
 * Handles an agent's requests to its client: permissions by the profile's policy; forms and all other permissions go to
 * the user.
 */
export interface Questions {
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  elicitation(request: CreateElicitationRequest): Promise<CreateElicitationResponse>;
  /**
   * Gives the user's answer to the question shown to them; false if it is not open or has no such option. The next
   * question is shown then.
   */
  answer(questionId: string, reply: QuestionReply): boolean;
  /** Cancels every open question, and every further one: agents wait for that after a cancel. */
  cancelAll(): void;
  /** Allows questions, also after {@link cancelAll}. */
  open(): void;
  /** Returns true if a question is open. The agent may do other work meanwhile. */
  isAnyOpen(): boolean;
}

type QuestionUpdate = Extract<AgentUpdate, { type: 'question' }>;

interface PendingQuestion {
  readonly update: QuestionUpdate;
  isSent: boolean;
  readonly resolve: (reply: QuestionReply | null) => void;
}

/** The decision on a permission request. `option`: null for none, which cancels it. */
interface Decision {
  readonly questionId: string | null;
  readonly option: RequestPermissionRequest['options'][number] | null;
  /** The option as shown to the user; null if the user was not asked. */
  readonly shown: QuestionOption | null;
}

/**
 * `report` puts an update into the agent's stream, in order. Agents with parallel tools ask while a question is open. A
 * session shows one question at a time, so that it is clear which question the user's text answers. `onAsked` is called
 * when a question for the user arrives, with its tool call if known, and with true if no other question was open.
 */
export function createQuestions(
  policy: AgentProfile['permission'],
  report: (update: AgentUpdate) => void,
  onQuestion: (toolCallId: string | null, isFirst: boolean) => void,
): Questions {
  const pending: PendingQuestion[] = [];
  let isCancelled = false;

  const sendFirst = () => {
    const [first] = pending;
    if (first === undefined || first.isSent) return;
    first.isSent = true;
    report(first.update);
  };

  // Null: the question was cancelled.
  const ask = (update: QuestionUpdate, toolCallId: string | null): Promise<QuestionReply | null> => {
    if (isCancelled) return Promise.resolve(null);
    onQuestion(toolCallId, pending.length === 0);
    return new Promise((resolve) => {
      pending.push({ update, isSent: false, resolve });
      if (pending.length === 1) sendFirst();
    });
  };

  const decide = async (request: RequestPermissionRequest): Promise<Decision> => {
    if (isCancelled) return { questionId: null, option: null, shown: null };
    if (policy !== 'ask') {
      const option = pick(request.options, policy === 'auto' ? 'allow' : 'reject');
      return { questionId: null, option, shown: null };
    }
    const options = offer(request.options);
    const title = brief(request.toolCall.title ?? 'a tool');
    const { toolCallId } = request.toolCall;
    const question = questionOf('permission', `May I run ${title}?`, options, toolCallId);
    const reply = await ask(question, toolCallId);
    const shown = reply && (optionOf(options, reply) ?? matchOption(options, reply.text));
    return { questionId: question.questionId, option: shown && (request.options[indexOf(shown)] ?? null), shown };
  };

  return {
    async permission(request) {
      const { toolCallId, title } = request.toolCall;
      const { questionId, option, shown } = await decide(request);
      const decision = option === null ? 'cancelled' : option.kind.startsWith('allow') ? 'allowed' : 'denied';
      report({
        type: 'permission',
        toolCallId: brief(toolCallId),
        title: brief(title ?? 'Tool call'),
        decision,
        questionId,
        option: shown,
      });
      return {
        outcome: option === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option.optionId },
      };
    },
    async elicitation(request) {
      if (request.mode !== 'form') return { action: 'decline' };
      const field = fieldOf(request);
      const { toolCallId } = request as { toolCallId?: unknown };
      const about = typeof toolCallId === 'string' ? toolCallId : null;
      const reply = await ask(questionOf('question', request.message, field.options, about), about);
      if (reply === null) return { action: 'cancel' };
      return { action: 'accept', content: { [field.name]: fillField(field, reply) } };
    },
    answer(questionId, reply) {
      const [first] = pending;
      if (first?.update.questionId !== questionId) return false;
      if (reply.optionId !== null && optionOf(first.update.options, reply) === null) return false;
      pending.shift();
      first.resolve(reply);
      // Deferred: the result of this question is reported first.
      setImmediate(sendFirst);
      return true;
    },
    open() {
      isCancelled = false;
    },
    cancelAll() {
      isCancelled = true;
      for (const { resolve } of pending.splice(0)) resolve(null);
    },
    isAnyOpen: () => pending.length > 0,
  };
}

function questionOf(
  reason: QuestionUpdate['reason'],
  text: string,
  options: readonly QuestionOption[],
  about: string | null,
): QuestionUpdate {
  const toolCallId = about === null ? null : brief(about);
  return { type: 'question', questionId: randomUUID(), text: truncate(text), options, reason, toolCallId };
}

/** The first {@link maxOptions} of an agent's options, in the form shown to the user. */
function offer(options: readonly { readonly name: string; readonly kind?: PermissionOptionKind }[]): QuestionOption[] {
  return options.slice(0, maxOptions).map(({ name, kind }, n) => {
    const id = String(n + 1);
    return { id, name: oneLine(name) || `Option ${id}`, kind: kind ?? null };
  });
}

const indexOf = ({ id }: QuestionOption) => Number(id) - 1;

function optionOf(options: readonly QuestionOption[], { optionId }: QuestionReply): QuestionOption | null {
  return options.find(({ id }) => id === optionId) ?? null;
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
  /** The values of the options, in their order. */
  readonly values: readonly string[];
}

// The one field that the user's text can fill: the first text field, otherwise the first field.
function fieldOf(request: object): Field {
  const { requestedSchema } = request as { requestedSchema?: { properties?: Record<string, FieldSchema> } };
  const fields = Object.entries(requestedSchema?.properties ?? {});
  const [name, schema] = fields.find(([, each]) => each.type === 'string') ?? fields[0] ?? ['answer', {}];
  const plain = schema.enum ?? schema.items?.enum ?? [];
  const choices = schema.oneOf ?? schema.items?.anyOf ?? plain.map((value): Choice => ({ const: value }));
  const options = offer(choices.map((choice) => ({ name: choice.title ?? choice.const })));
  return { name, type: schema.type ?? 'string', options, values: choices.map((choice) => choice.const) };
}

function fillField({ type, options, values }: Field, reply: QuestionReply): string | number | boolean | string[] {
  const option = optionOf(options, reply) ?? pickOption(options, reply.text);
  const value = (option && values[indexOf(option)]) ?? reply.text;
  if (type === 'array') return [value];
  if (type === 'boolean') return isYes(reply.text);
  const number = Number(value.trim());
  return (type === 'number' || type === 'integer') && Number.isFinite(number) ? number : value;
}

function isYes(text: string): boolean {
  return /^(y|yes|ok|okay|allow|sure|true)\b/i.test(text.trim());
}

// "Once" is preferred to "always": a permanent answer changes the agent's mode, and Gemini CLI then mentions that in
// its messages.
function pick<T extends { readonly kind: string | null }>(options: readonly T[], verb: 'allow' | 'reject'): T | null {
  const byKind = (kind: string) => options.find((option) => option.kind === kind);
  return byKind(`${verb}_once`) ?? byKind(`${verb}_always`) ?? null;
}

// Matches the user's text to an option by number or name, otherwise to yes or no; any other text means no.
function matchOption(options: readonly QuestionOption[], text: string): QuestionOption | null {
  const named = pickOption(options, text);
  if (named) return named;
  return pick(options, isYes(text) ? 'allow' : 'reject');
}

// A name that several options share selects none of them.
function pickOption(options: readonly QuestionOption[], text: string): QuestionOption | null {
  const input = text.trim().toLowerCase();
  const byNumber = /^\d{1,3}\.?$/.test(input) ? options[Number.parseInt(input, 10) - 1] : undefined;
  const byName = options.filter(({ name }) => name.toLowerCase() === input);
  return byNumber ?? (byName.length === 1 ? (byName[0] ?? null) : null);
}
