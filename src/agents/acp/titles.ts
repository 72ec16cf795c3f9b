import type { PromptBlock } from '../agent.ts';

/** A title of fewer characters may well be the agent's own. */
const minEchoLength = 20;

/**
 * Whether a title is only the beginning of what the service told the agent: Codex takes the first words of its first prompt
 * for one, whoever's they are.
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
