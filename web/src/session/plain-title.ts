import { common } from '../texts/common.ts';
import { visible } from '../ui/visible.ts';

/** Removes Markdown syntax from a title: most titles are the first words of a prompt. */
export function plainTitle(title: string | null | undefined): string {
  return plainText(title ?? '') || common.untitledSession;
}

/** Removes the common Markdown syntax from a short text. */
export function plainText(text: string): string {
  const plain = text
    .replace(/^#{1,6}\s+/gm, '')
    .replace(/^ *(?:`{3,}|~{3,}).*$/gm, '')
    .replace(/!?\[([^\][]*)\]\([^()\s]*\)/g, '$1')
    .replace(/\*\*([^*]+)\*\*/g, '$1')
    .replace(/`+([^`]+)`+/g, '$1')
    .trim();
  return visible(plain);
}
