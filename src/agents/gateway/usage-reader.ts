import type { CallUsage } from './providers.ts';

/** Of an answer that is not a stream, and of one line of a stream: what is longer is passed on, and not counted. */
const mostCharacters = 32 * 1_024 * 1_024;

/** Reads along with an answer, chunk by chunk, and says in the end what the call used. Never throws. */
export interface UsageReader {
  take(chunk: Buffer): void;
  total(): CallUsage;
}

const unknown: CallUsage = { inputTokens: null, outputTokens: null, cachedTokens: null };

/** A reader for a stream of server-sent events (`isStream`) or one JSON text. */
export function createUsageReader(
  isStream: boolean,
  readUsage: (json: Readonly<Record<string, unknown>>) => CallUsage | null,
): UsageReader {
  const decoder = new TextDecoder();
  let text = '';
  let isTooLong = false;
  let usage = unknown;

  const look = (json: string) => {
    // Most events of a stream say nothing about usage; those that do are few.
    if (!json.includes('"usage')) return;
    let parsed: unknown;
    try {
      parsed = JSON.parse(json);
    } catch {
      return;
    }
    // Gemini streams an array where events were not asked for.
    for (const each of Array.isArray(parsed) ? parsed : [parsed]) {
      const found = typeof each === 'object' && each !== null ? readUsage(each) : null;
      if (found) usage = later(usage, found);
    }
  };
  const lookAtLine = (line: string) => {
    if (line.startsWith('data:')) look(line.slice(5));
  };

  return {
    take(chunk) {
      text += decoder.decode(chunk, { stream: true });
      if (isStream) {
        const lines = text.split(/\r?\n/);
        text = lines.pop() ?? '';
        if (isTooLong && lines.length > 0) {
          lines.shift();
          isTooLong = false;
        }
        for (const line of lines) lookAtLine(line);
      }
      if (text.length <= mostCharacters) return;
      text = '';
      isTooLong = true;
    },
    total() {
      if (!isTooLong && isStream) lookAtLine(text);
      else if (!isTooLong) look(text);
      text = '';
      return usage;
    },
  };
}

// Figures of a stream only grow: what is said in the beginning (Anthropic's input) and in the end belongs together.
function later(a: CallUsage, b: CallUsage): CallUsage {
  return {
    inputTokens: larger(a.inputTokens, b.inputTokens),
    outputTokens: larger(a.outputTokens, b.outputTokens),
    cachedTokens: larger(a.cachedTokens, b.cachedTokens),
  };
}

function larger(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
