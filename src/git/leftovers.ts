import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../store/delete-tree.ts';

/**
 * Removes the unfinished mirrors and snapshots of an earlier process from the directory of mirrors. Call it
 * when no git of that process runs any longer. Files that cannot be removed stay.
 */
export async function removeUnfinished(directory: string): Promise<void> {
  const owners = (await readdir(directory).catch(() => [])).filter((name) => name !== '.clones');
  for (const owner of owners) {
    const names = await readdir(join(directory, owner)).catch(() => []);
    for (const name of names.filter((each) => !each.endsWith('.git')))
      await removeTree(join(directory, owner, name)).catch(() => undefined);
  }
}
