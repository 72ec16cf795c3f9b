import { plainLine } from '../common/plain-text.ts';
import { findFetchTooLarge } from './fetch-limit.ts';
import { RepositoryError } from './repository-error.ts';
import type { GitOutcome } from './run-git.ts';

/** Maximum length of a sentence, in characters: names in a repository can be very long. */
const maxLength = 400;

/**
 * Converts the output of a git command that failed to an error with a sentence for people. The texts of a repository
 * lose control characters and characters that change the direction of a text.
 */
export function errorOf({ code, stderr }: GitOutcome): RepositoryError {
  const tooLarge = findFetchTooLarge(stderr);
  if (tooLarge !== null) return new RepositoryError('TOO_LARGE', tooLarge);
  const remote = /^fatal: remote error: (.+)$/m.exec(stderr)?.[1];
  if (remote !== undefined) return new RepositoryError('REMOTE', plainLine(remote, maxLength));
  const noRef = /couldn't find remote ref (\S+)/.exec(stderr)?.[1];
  if (noRef !== undefined) return new RepositoryError('NO_REF', plainLine(`It has no ref ${noRef}.`, maxLength));
  if (/No space left on device/i.test(stderr)) return diskFull();
  if (/out of memory|attempting to allocate|mmap failed: Cannot allocate/i.test(stderr))
    return new RepositoryError('TOO_LARGE', 'Git needs too much memory for it.');
  const [, finding, explanation] =
    /^error: object [0-9a-f]+: (\w+): (.+)$/m.exec(stderr) ??
    /fsck error in \w+ object.*: (\w+): (.+)$/m.exec(stderr) ??
    [];
  if (finding !== undefined)
    return refused(`Git refuses an object of it: ${plainLine(explanation ?? '', maxLength)} (${finding}).`);
  const isRemote = /remote end hung up|early EOF|unable to access|RPC failed/i.test(stderr);
  const last = lastLine(stderr);
  if (last === null) return refused(code === null ? 'Git crashed while it read the repository.' : 'Git failed.');
  const sentence = `Git says: ${plainLine(last, maxLength).replace(/\.?$/, '.')}`;
  return new RepositoryError(isRemote ? 'REMOTE' : 'REFUSED_CONTENT', sentence);
}

// The sentences of git that end a command tell less than those before them.
function lastLine(stderr: string): string | null {
  const lines = stderr.split('\n').flatMap((line) => /^(?:fatal|error): (.+)$/.exec(line)?.[1] ?? []);
  return (
    lines.findLast((line) => !/^(?:index-pack failed|fetch-pack: |unpack-objects died)/.test(line)) ??
    lines.at(-1) ??
    null
  );
}

/** An error for a repository that the free disk space does not suffice for. */
export function diskFull(): RepositoryError {
  return new RepositoryError('DISK_FULL', 'The worker has too little free disk space for it.');
}

function refused(message: string): RepositoryError {
  return new RepositoryError('REFUSED_CONTENT', message);
}
