/** The maximum length of a ref's name. File systems of forges accept less for each part. */
const maxLength = 1_000;

/** Characters that git forbids, and those that cannot be displayed or change the direction of a text. */
const forbidden = /[ ~^:?*[\\]|\p{C}|\p{Z}/u;

/** Tells if a text is the full name of a ref, by the rules of `git check-ref-format`. Stricter: no invisible characters. */
export function isRefName(name: string): boolean {
  if (name.length > maxLength || forbidden.test(name)) return false;
  if (name.includes('..') || name.includes('@{') || name.endsWith('.')) return false;
  const [first, ...parts] = name.split('/');
  const isPart = (part: string) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock');
  return first === 'refs' && parts.length > 0 && parts.every(isPart);
}

/** Returns the branch of a ref; null: it is no branch. */
export function branchOf(ref: string): string | null {
  const prefix = 'refs/heads/';
  return ref.startsWith(prefix) ? ref.slice(prefix.length) : null;
}
