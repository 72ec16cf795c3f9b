import { randomUUID } from 'node:crypto';
import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import type { AgentProfile, AgentUpdate, QuestionOption } from '../agent.ts';

/** What the agent asks of its client: permissions by the profile's policy, forms and the rest of the user. */
export interface Questions {
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  elicitation(request: CreateElicitationRequest): Promise<CreateElicitationResponse>;
  /** Gives the user's words to an open question; false when it is not open. */
  answer(questionId: string, text: string): boolean;
  /** Ends every open question: agents wait for that after a cancel. */
  cancelAll(): void;
  /** Whether the agent waits for the user. */
  isOpen(): boolean;
}

type Option = RequestPermissionRequest['options'][number];

/** `report` puts an update into the agent's stream, in order. */
export function createQuestions(policy: AgentProfile['permission'], report: (update: AgentUpdate) => void): Questions {
  const open = new Map<string, (text: string | null) => void>();

  const ask = (text: string, options: readonly QuestionOption[], reason: 'question' | 'permission') => {
    const questionId = randomUUID();
    const answered = new Promise<string | null>((resolve) => {
      open.set(questionId, (words) => {
        open.delete(questionId);
        resolve(words);
      });
    });
    report({ type: 'question', questionId, text, options, reason });
    return answered;
  };

  const choose = async (request: RequestPermissionRequest): Promise<Option | null> => {
    if (policy !== 'ask') return pick(request.options, policy === 'auto' ? 'allow' : 'reject');
    const title = request.toolCall.title ?? 'a tool';
    const options = request.options.map(({ optionId, name }) => ({ id: optionId, name }));
    const words = await ask(`May I run ${title}?`, options, 'permission');
    return words === null ? null : matchOption(request.options, words);
  };

  return {
    async permission(request) {
      const { toolCallId, title } = request.toolCall;
      const option = await choose(request);
      const decision = option === null ? 'cancelled' : option.kind.startsWith('allow') ? 'allowed' : 'denied';
      report({ type: 'permission', toolCallId, title: title ?? toolCallId, decision });
      return {
        outcome: option === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option.optionId },
      };
    },
    async elicitation(request) {
      if (request.mode !== 'form') return { action: 'decline' };
      const { properties } =
        (request as { requestedSchema?: { properties?: Record<string, FieldSchema> } }).requestedSchema ?? {};
      const [field, schema] = Object.entries(properties ?? {}).find(([, each]) => each.type === 'string') ?? [];
      const options = (schema?.enum ?? []).map((value) => ({ id: value, name: value }));
      const words = await ask(request.message, options, 'question');
      if (words === null) return { action: 'cancel' };
      return { action: 'accept', content: { [field ?? 'answer']: pickOption(options, words)?.id ?? words } };
    },
    answer(questionId, text) {
      const resolve = open.get(questionId);
      resolve?.(text);
      return resolve !== undefined;
    },
    cancelAll() {
      for (const resolve of [...open.values()]) resolve(null);
    },
    isOpen: () => open.size > 0,
  };
}

interface FieldSchema {
  type?: string;
  enum?: string[];
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
  return pick(options, /^(y|yes|ok|okay|allow|sure)\b/i.test(words.trim()) ? 'allow' : 'reject');
}

function pickOption<T extends { name: string }>(options: readonly T[], words: string): T | null {
  const said = words.trim().toLowerCase();
  const byNumber = /^\d{1,3}\.?$/.test(said) ? options[Number.parseInt(said, 10) - 1] : undefined;
  return byNumber ?? options.find((option) => option.name.toLowerCase() === said) ?? null;
}
