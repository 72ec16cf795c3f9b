import { type CheckpointKeys, deriveKeys } from '../checkpoint-keys.ts';
import {
  type CheckpointContent,
  CheckpointError,
  type CheckpointKey,
  type LayerContent,
  type SegmentSource,
} from '../driver.ts';
import { emptyManifest, type Layer, type Manifest } from '../manifest.ts';
import { decodeManifestsInSteps, fetchManifests } from '../segment-reader.ts';
import { type LayerState, prune } from './layer-save.ts';
import { createDirectoryNode, type DirectoryNode, type TreeNode } from './saved-tree.ts';

/** The last committed state of a session, in memory. */
export interface SessionState {
  /** Its children are the roots. */
  readonly top: DirectoryNode;
  readonly layers: Readonly<Record<Layer, LayerState>>;
  /** Paths in the manifest of the layer `ignored` that are not in the tree, because their directory is gone. */
  orphans: Set<string>;
}

/** Options of {@link loadState}. */
export interface LoadStateOptions {
  readonly key: CheckpointKey;
  readonly from: CheckpointContent | null;
  readonly segments: SegmentSource;
  readonly pause: () => Promise<void> | null;
}

const lostCodes: ReadonlySet<CheckpointError['code']> = new Set(['DAMAGED', 'MISSING']);

/**
 * Reads the last committed state from its segments. If they are damaged or missing, the state is empty, so that the next save stores everything.
 * Rejects with CheckpointError if the storage does not answer.
 */
export async function loadState({ key, from, segments, pause }: LoadStateOptions): Promise<SessionState> {
  const keys = deriveKeys(key);
  const load = async (layer: Layer, content: LayerContent | null): Promise<LayerState> => {
    if (content === null) return emptyLayer();
    try {
      const manifest = await readManifest(layer, content, { key, keys, segments, pause });
      prune(manifest, new Set(content.segments));
      return { manifest, content, since: null };
    } catch (error) {
      if (error instanceof CheckpointError && lostCodes.has(error.code)) return emptyLayer();
      throw error;
    }
  };
  const files = await load('files', from?.files ?? null);
  const ignored = await load('ignored', from?.ignored ?? null);
  return { ...treeOf(files.manifest, ignored.manifest), layers: { files, ignored } };
}

interface Reading {
  readonly key: CheckpointKey;
  readonly keys: CheckpointKeys;
  readonly segments: SegmentSource;
  readonly pause: () => Promise<void> | null;
}

async function readManifest(layer: Layer, content: LayerContent, reading: Reading): Promise<Manifest> {
  const { key, keys, segments, pause } = reading;
  const steps = decodeManifestsInSteps(await fetchManifests(content, key, segments), layer, keys);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    const wait = pause();
    if (wait !== null) await wait;
  }
}

function emptyLayer(): LayerState {
  return { manifest: emptyManifest(), content: null, since: null };
}

/** Builds the tree of two manifests. Nothing is known of the status of its files, so the next save reads all of them. */
function treeOf(files: Manifest, ignored: Manifest): { top: DirectoryNode; orphans: Set<string> } {
  const top = createDirectoryNode();
  const directories = new Map<string, DirectoryNode>([['', top]]);
  const ignoredDirectories = new Map<string, DirectoryNode>();
  const orphans = new Set<string>();
  const nodeOf = (manifest: Manifest, path: string, known: Map<string, DirectoryNode>): TreeNode => {
    const entry = manifest.entries.get(path);
    if (entry === undefined) throw new CheckpointError('DAMAGED', 'A manifest has no such path.');
    if (entry.type !== 'directory') return { kind: 'file', identity: null, entry, isTorn: false };
    const node = Object.assign(createDirectoryNode(), { entry });
    known.set(path, node);
    return node;
  };
  // A directory is before what is in it.
  for (const path of [...files.entries.keys()].sort()) {
    const [above, name] = split(path);
    directories.get(above)?.children.set(name, nodeOf(files, path, directories));
  }
  for (const path of [...ignored.entries.keys()].sort()) {
    const [above, name] = split(path);
    const inside = ignoredDirectories.get(above);
    const outside = directories.get(above);
    if (inside !== undefined) inside.children.set(name, nodeOf(ignored, path, ignoredDirectories));
    else if (outside !== undefined && !outside.children.has(name)) {
      outside.ignored.set(name, nodeOf(ignored, path, ignoredDirectories));
    } else orphans.add(path);
  }
  return { top, orphans };
}

function split(path: string): [above: string, name: string] {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? ['', path] : [path.slice(0, slash), path.slice(slash + 1)];
}
