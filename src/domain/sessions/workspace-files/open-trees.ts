import type { WorkspaceTree } from './workspace-tree.ts';

/** Entries of all trees that are kept. */
const maxEntries = 300_000;
/** The number of trees that are kept. Each also keeps up to 8 MB of content. */
const maxTrees = 4;

/** The trees that were used last, so that the pages of a directory, and the files in it, do not read the manifest again. */
export interface OpenTrees {
  /** Returns the tree of a checkpoint, whose content never changes. Two calls at the same time read it once. */
  open(checkpointId: string, read: () => Promise<WorkspaceTree>): Promise<WorkspaceTree>;
}

/** Creates {@link OpenTrees}. */
export function openTrees(): OpenTrees {
  // The one that was used last is the last.
  const trees = new Map<string, { readonly tree: Promise<WorkspaceTree>; entryCount: number }>();
  const shrink = () => {
    const count = () => [...trees.values()].reduce((sum, { entryCount }) => sum + entryCount, 0);
    for (const id of trees.keys()) {
      if (trees.size <= 1 || (trees.size <= maxTrees && count() <= maxEntries)) return;
      trees.delete(id);
    }
  };
  return {
    async open(checkpointId, read) {
      const kept = trees.get(checkpointId) ?? { tree: read(), entryCount: 0 };
      trees.delete(checkpointId);
      trees.set(checkpointId, kept);
      try {
        const tree = await kept.tree;
        kept.entryCount = tree.entryCount;
        shrink();
        return tree;
      } catch (error) {
        if (trees.get(checkpointId) === kept) trees.delete(checkpointId);
        throw error;
      }
    },
  };
}
