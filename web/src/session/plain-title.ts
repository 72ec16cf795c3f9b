import { visible } from '../ui/visible.ts';
/** Removes Markdown syntax from a title: most titles are the first words of a prompt. */
export function plainTitle(title: string | null | undefined): string {
  const plain = (title ?? '')
    .replace(/^#{1,6}\s+/, '')
    .replace(/!?\[([^\][]*)\]\([^()\s]*\)/g, '$1')
    .replace(/\*\*([^*]+)\*\*/g, '$1')
    .replace(/`+([^`]+)`+/g, '$1')
    .trim();
  return visible(plain) || 'Untitled session';
}
