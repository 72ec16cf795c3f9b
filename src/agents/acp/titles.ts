import type { PromptBlock } from '../agent.ts';

/** A title of fewer characters may well be the agent's own. */
const shortestEcho = 20;

/**
 * Whether a title is only the beginning of what the service told the agent: Codex takes the first words of its first prompt
 * for one, whoever's they are.
 */
export function isEcho(title: string, blocks: readonly PromptBlock[]): boolean {
  const words = plain(title.replace(/(…|\.\.\.)$/, ''));
  if (words.length < shortestEcho) return false;
  return blocks.some(
    (block) => block.type === 'text' && block.isPreface === true && plain(block.text).startsWith(words),
  );
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
