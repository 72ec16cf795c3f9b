import { type QuotaRefusal, readResetText } from './reset-time.ts';

/** The longest part of an agent's error that is read. */
const maxCharacters = 4_000;

/**
 * Words for a limit in the errors of agents (docs/agents.md#limits-of-providers): of Claude Code ("Request rejected (429)"),
 * Codex ("429 Too Many Requests", "You've hit your usage limit"), Gemini CLI and opencode ("exceeded your current quota",
 * "Rate limit reached").
 */
const quotaPattern =
  /\(429\)|\b429 too many requests|\btoo many requests\b|\brate[ _-]?limit(s|ed)?\b|\busage limit\b|\bexceeded your current quota\b|\bRESOURCE_EXHAUSTED\b/i;

/**
 * Reads a limit of a provider from an agent's error response to a request; null: another error. `code`: of JSON-RPC.
 */
export function readAgentRefusal(text: string, code: number | null, nowMs: number): QuotaRefusal | null {
  const start = text.slice(0, maxCharacters);
  return code === 429 || quotaPattern.test(start) ? { resetMs: readResetText(start, nowMs) } : null;
}

/** The last message of a turn that Codex ends normally because of a limit. */
const finalText = /^exceeded retry limit, last status: 429 Too Many Requests$/;

/** Tells if the last message of a turn, all of it, says that the agent gave up because of a limit. */
export function isGivingUp(text: string): boolean {
  return finalText.test(text.trim());
}
