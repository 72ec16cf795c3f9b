import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { readHead, readInside } from './diff/read-inside.ts';

/** Maximum number of refs of a clone that are read. */
const maxRefs = 20_000;

const maxPackedRefsBytes = 8 * 1_048_576;

/**
 * Returns the ids that the refs and HEAD of a clone name, without git: the agent can write anything there. Follows no link. Refs
 * after the first 20,000 are left out.
 */
export async function readRefIds(clone: string): Promise<string[]> {
  const ids = new Set<string>();
  const head = await readHead(clone);
  if (head !== null) ids.add(head);
  const packed = (await readInside(clone, ['.git', 'packed-refs'], maxPackedRefsBytes)) ?? '';
  for (const line of packed.split('\n')) {
    const id = /^([0-9a-f]{40}|[0-9a-f]{64}) refs\//.exec(line)?.[1];
    if (id !== undefined && ids.size < maxRefs) ids.add(id);
  }
  let left = maxRefs;
  const visit = async (names: readonly string[]): Promise<void> => {
    const path = join(clone, ...names);
    if (!(await lstat(path).catch(() => null))?.isDirectory()) return;
    for await (const entry of await opendir(path)) {
      left -= 1;
      if (left < 0) return;
      const inner = [...names, entry.name];
      if (entry.isDirectory() && inner.length < 24) await visit(inner);
      const text = entry.isFile() ? await readInside(clone, inner, 1_024) : null;
      const id = /^([0-9a-f]{40}|[0-9a-f]{64})$/.exec(text?.trim() ?? '')?.[1];
      if (id !== undefined) ids.add(id);
    }
  };
  await visit(['.git', 'refs']);
  return [...ids];
}
