import { setImmediate as nextRound } from 'node:timers/promises';
import { type ClientConnection, RequestError } from '@agentclientprotocol/sdk';
import { within } from '../../common/within.ts';
import { AgentCrash, type AgentLaunch, type CrashCause } from '../agent.ts';
import { readAgentRefusal } from '../quota/agent-errors.ts';
import type { QuotaRefusal } from '../quota/reset-time.ts';
import type { Child } from './child.ts';

/** The time to wait for the last output of a process that ended: its children may hold its stdout open. */
const drainStepMs = 1_000;
/** The maximum number of such waits while received messages are still being processed. */
const maxDrainSteps = 60;
/** The maximum length of an agent's own error explanation that is passed on. */
const maxDetailCharacters = 500;
/** JSON-RPC's code for an unknown method. */
export const methodNotFound = -32_601;
/** ACP's "authentication required", and HTTP statuses that Gemini CLI passes on unchanged. */
const loginCodes = [-32_000, 401, 403];
/** Words in which other agents say it, in the message of an "Internal error" (docs/agents.md#differences-in-acp). */
const loginPattern =
  /\b(401|403)\b|unauthori[sz]ed|unauthenticated|authentication|(invalid|incorrect|missing|no) api[ _-]?key|api[ _-]?key (is |not )?(invalid|missing|wrong|set|found|valid)/i;

/** Requests in the words of those who use sessions; all others are named as ACP names them. */
const requestNames: Readonly<Record<string, string>> = {
  'session/prompt': 'the message',
  'session/new': 'to open a session',
};

/** Codes of JSON-RPC and HTTP for an invalid request; a retry would be refused again. */
const refusalCodes = [-32_600, -32_602, 400, 404, 413, 422];
const refusalPattern =
  /\b(400|404|413|422)\b:? (bad request|not found|content too large|unprocessable)|(status|http|error|code)[ "]*(code)?[ ":=(]*(400|404|413|422)\b|bad request|invalid[ _-]?(request|argument)|unprocessable|no such model|model[ _-]not[ _-]found|(unknown|invalid|unsupported) model|model\b.{0,80} (not found|does not exist|is not supported)/i;
/** Messages of errors that may succeed on a retry, regardless of other codes. */
const transientPattern =
  /\b(408|409|425|429|5\d\d)\b|rate.?limit|overloaded|time[ds]? ?out|temporar|ECONN|ENOTFOUND|EAI_AGAIN|socket|fetch failed/i;

/** An {@link AgentCrash} for an error response of the agent, with its code. */
export class AgentRefusal extends AgentCrash {
  readonly code: number | null;

  constructor(message: string, stderrTail: string, reason: CrashCause, code: number | null) {
    super(message, stderrTail, reason);
    this.code = code;
  }
}

/** An {@link AgentCrash} for a response that did not arrive in time. */
export class AgentTimeout extends AgentCrash {}

/**
 * Requests to one agent. If the agent ends, fails or does not answer in time, they reject with an {@link AgentCrash}.
 */
export interface Requests {
  send<T>(method: string, params: object, timeoutMs?: number): Promise<T>;
  /** Sends a notification; its delivery does not matter. */
  notify(method: string, params: object): void;
  /** Creates a crash with this message and the agent's last stderr output. */
  crash(message: string): AgentCrash;
  /** Creates a crash for a limit of the provider. */
  quota(refusal: QuotaRefusal): AgentCrash;
}

/**
 * Creates requests over a connection to a child. `isReading`: received messages are being processed now.
 * `onExchange` is called for each request.
 */
export function createRequests(
  child: Child,
  connection: ClientConnection,
  isReading: () => boolean,
  onExchange: AgentLaunch['onExchange'] = () => undefined,
): Requests {
  const crash = (message: string) => new AgentCrash(child.mask(message), child.stderrTail());
  const quota = ({ resetMs }: QuotaRefusal) =>
    new AgentCrash('The provider of the model has reached its limit.', child.stderrTail(), 'quota', resetMs);

  const ended = async (method: string) => {
    const how = await child.exited;
    const killReason = child.killReason();
    if (killReason !== null) return new AgentCrash(child.mask(killReason), child.stderrTail(), 'limit');
    // Exit codes by which a shell or env(1) reports a missing or invalid program; a retry would fail too.
    const isMissing = method === 'initialize' && ['exit code 126', 'exit code 127'].includes(how);
    const message = `The agent process ended unexpectedly (${how}).`;
    return new AgentCrash(child.mask(message), child.stderrTail(), isMissing ? 'program' : 'crash');
  };

  const explain = async (method: string, error: unknown): Promise<never> => {
    // A closed connection usually means that the process has exited. Waits briefly for the exit, so that the error can
    // name it.
    if (connection.signal.aborted && (await within(child.exited, drainStepMs))) throw await ended(method);
    const rawMessage = error instanceof Error ? error.message : String(error);
    const detail = detailOf(error, (text) => child.mask(text));
    const fullText = `${rawMessage.replace(/\.$/, '')}${detail}`;
    const code = error instanceof RequestError ? error.code : null;
    const refusal = readAgentRefusal(fullText, code, Date.now());
    const message = `The agent refused ${requestNames[method] ?? `"${method}"`}: ${plain(rawMessage)}${detail}.`;
    if (refusal !== null) throw new AgentCrash(child.mask(message), child.stderrTail(), 'quota', refusal.resetMs);
    const isLogin = loginCodes.includes(code ?? 0) || loginPattern.test(fullText);
    throw new AgentRefusal(child.mask(message), child.stderrTail(), isLogin ? 'login' : causeOf(fullText, code), code);
  };

  const late = (method: string, timeoutMs: number, signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      const limit = `within ${timeoutMs / 1_000} s`;
      const message =
        method === 'initialize'
          ? `The agent did not start ${limit} (start_timeout_ms).`
          : `The agent did not answer "${method}" ${limit}.`;
      const timer = setTimeout(() => reject(new AgentTimeout(child.mask(message), child.stderrTail())), timeoutMs);
      signal.addEventListener('abort', () => clearTimeout(timer));
    });

  return {
    crash,
    quota,
    notify(method, params) {
      void connection.agent.notify(method, params).catch(() => undefined);
    },
    async send<T>(method: string, params: object, timeoutMs?: number): Promise<T> {
      const answer = connection.agent.request<T>(method, params).catch((error: unknown) => explain(method, error));
      const gone = child.exited.then(async () => {
        // Its last output may contain the response.
        for (let n = 0; n < maxDrainSteps; n++) {
          if ((await within(connection.closed, drainStepMs)) || !isReading()) break;
        }
        throw await ended(method);
      });
      const over = new AbortController();
      const races = timeoutMs === undefined ? [answer, gone] : [answer, gone, late(method, timeoutMs, over.signal)];
      for (const each of races) each.catch(() => undefined);
      const sentAt = performance.now();
      try {
        const result = await Promise.race(races);
        onExchange({ method, tookMs: performance.now() - sentAt, result, error: null });
        return result;
      } catch (error) {
        onExchange({ method, tookMs: performance.now() - sentAt, result: undefined, error: error as Error });
        throw error;
      } finally {
        over.abort();
        // A response may overtake earlier updates: their handlers run before the next round of the event loop.
        await nextRound();
      }
    },
  };
}

/**
 * Applies a setting of the profile. An error names the setting, and a retry would fail too, unless it is a login error.
 */
export async function named(setting: Promise<unknown>, what: string): Promise<void> {
  try {
    await setting;
  } catch (error) {
    throw settingError(error, what);
  }
}

function settingError(error: unknown, what: string): unknown {
  const isTransient =
    !(error instanceof AgentRefusal) || error.reason === 'login' || transientPattern.test(error.message);
  return isTransient ? error : new AgentCrash(`${what}. ${error.message}`, error.stderrTail, 'settings');
}

// A session that the agent has lost may be available after a restart.
function causeOf(text: string, code: number | null): CrashCause {
  if (transientPattern.test(text) || /session.{0,80}not found/i.test(text)) return 'crash';
  return refusalCodes.includes(code ?? 0) || refusalPattern.test(text) ? 'request' : 'crash';
}

// Gemini CLI passes the provider's response on unchanged; this extracts its message for people.
function plain(text: string): string {
  let result = text;
  try {
    const [first] = [JSON.parse(text)].flat();
    const message: unknown = first?.error?.message;
    if (typeof message === 'string') result = message;
  } catch {
    // The text is not JSON.
  }
  return result.trim().replace(/\.$/, '');
}

// Agents put the cause (an invalid key, an unknown model) beside a generic "Internal error".
function detailOf(error: unknown, mask: (text: string) => string): string {
  const data = error instanceof RequestError ? (error.data as unknown) : null;
  const { details, message } = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>;
  const detail = [data, details, message].find((each) => typeof each === 'string' && each.trim() !== '');
  return typeof detail === 'string' ? ` (${mask(detail).trim().slice(0, maxDetailCharacters).replace(/\.$/, '')})` : '';
}
