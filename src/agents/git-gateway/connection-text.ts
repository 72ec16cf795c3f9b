import type { GitCredential } from './repositories.ts';

type Named = Pick<GitCredential, 'connection'> | null;

/** Names the git connection of a credential in a sentence. */
export function connectionText(credential: Named): string {
  return credential?.connection === undefined ? 'the git connection' : `the connection "${credential.connection}"`;
}

/** A sentence about the place where an administrator can test the git connection of a credential. */
export function adviceToTest(credential: Named): string {
  return `An administrator can test ${connectionText(credential)} in Settings → Git.`;
}
