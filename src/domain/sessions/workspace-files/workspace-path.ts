import { refuse } from '../../../common/errors.ts';

/** Longer paths are refused, in characters. Linux has paths of up to 4,096 bytes. */
const maxPathLength = 8_192;

/**
 * Reads a path of a caller, relative to the workspace, as names from its root; none for the workspace itself. A slash at its end is
 * ignored. Throws INVALID_INPUT at `path` for an absolute path, and for the names "", "." and "..".
 */
export function parseWorkspacePath(text: string): readonly string[] {
  if (text === '') return [];
  if (text.length > maxPathLength) {
    throw refuse(['path'], `"path" must have at most ${maxPathLength} characters, but has ${text.length}.`);
  }
  if (text.startsWith('/')) throw refuse(['path'], '"path" must be relative to the workspace, but begins with "/".');
  const names = (text.endsWith('/') ? text.slice(0, -1) : text).split('/');
  const wrong = names.find((name) => name === '' || name === '.' || name === '..' || name.includes('\0'));
  if (wrong === undefined) return names;
  throw refuse(['path'], `"path" must consist of file names, but ${JSON.stringify(wrong)} is not the name of a file.`);
}
