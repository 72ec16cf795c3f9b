import type { PromptBlock } from '../agent.ts';

/** A shorter title may well be the agent's own. */
const minEchoLength = 20;

/**
 * Returns true if a title is only the start of the prompt: Codex uses the first words of its first prompt as a title,
 * even if the service wrote them.
 */
export function isEcho(title: string, blocks: readonly PromptBlock[]): boolean {
  const prefix = plain(title.replace(/(…|\.\.\.)$/, ''));
  if (prefix.length < minEchoLength) return false;
  return blocks.some(
    (block) => block.type === 'text' && block.isPreface === true && plain(block.text).startsWith(prefix),
  );
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
