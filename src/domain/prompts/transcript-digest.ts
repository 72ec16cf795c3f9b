import type { Context } from '../context.ts';

/**
 * What happened in a session so far, for an agent that cannot take up its own memory of it: the last messages and the titles
 * of tool calls, about 12,000 characters. `beforeSeq`: without what the log has from that number on, for what the turn gives
 * anyway.
 */
export async function transcriptDigest(
  _context: Context,
  _sessionId: string,
  _beforeSeq: number | null = null,
): Promise<string> {
  return '';
}
