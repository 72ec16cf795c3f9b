import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createTarPacker, type TarPackController } from 'modern-tar';
import { DomainError } from '../../../common/errors.ts';
import type { WorkspaceEntry, WorkspaceTree } from './workspace-tree.ts';

/** Files, directories and links of an archive. */
const maxEntries = 200_000;
/** Bytes of all files of an archive. */
const maxBytes = 20 * 1_073_741_824;

/** Permissions without the bits that give a program the rights of its owner: root may unpack the archive. */
const safeMode = (mode: number) => mode & 0o1777;

/** The name that an archive has for an entry: `root` is that of its directory. */
const nameIn = (root: string, from: number, { path, type }: WorkspaceEntry) =>
  `${root}${from === 0 ? `/${path}` : path.slice(from)}${type === 'DIRECTORY' ? '/' : ''}`;

/** Lists a directory with all that is in it, each directory before its content. */
function* walk(tree: WorkspaceTree, names: readonly string[]): Generator<WorkspaceEntry> {
  // No recursion: each entry would pass through a generator for each directory above it.
  const open = [{ names, entries: (tree.list(names) ?? [])[Symbol.iterator]() }];
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const { done, value: entry } = last.entries.next();
    if (done) {
      open.pop();
      continue;
    }
    yield entry;
    if (entry.type !== 'DIRECTORY') continue;
    const inner = [...last.names, entry.name];
    open.push({ names: inner, entries: (tree.list(inner) ?? [])[Symbol.iterator]() });
  }
}

/** Entries that are counted until other requests get their turn. */
const entriesOfTurn = 5_000;

/** Rejects with LIMIT_EXCEEDED for a directory that has too many files, or too large ones, for an archive. */
export async function requireArchivable(tree: WorkspaceTree, names: readonly string[]): Promise<void> {
  let entries = 0;
  let bytes = 0;
  for (const { size } of walk(tree, names)) {
    entries++;
    bytes += size;
    if (entries > maxEntries || bytes > maxBytes) {
      const limits = `at most ${maxEntries.toLocaleString('en')} files and 20 GiB`;
      throw new DomainError('LIMIT_EXCEEDED', `An archive has ${limits}: download a smaller directory.`);
    }
    if (entries % entriesOfTurn === 0) await nextTurn();
  }
}

/**
 * Creates a tar archive of a directory, whose name in it is `root`. It is made at the pace of its reader, and never completely in
 * memory. If a file cannot be read, the stream fails, so that no incomplete archive looks complete.
 */
export function archiveOf(
  tree: WorkspaceTree,
  names: readonly string[],
  { root, modifiedAt, signal }: { readonly root: string; readonly modifiedAt: Date; readonly signal: AbortSignal },
): ReadableStream<Uint8Array> {
  const { readable, controller } = createTarPacker();
  const pack = async () => {
    const from = names.join('/').length;
    await addEntry(controller, { name: `${root}/`, type: 'directory', size: 0, mode: 0o755, mtime: modifiedAt });
    for (const entry of walk(tree, names)) {
      signal.throwIfAborted();
      const { path, type, size, mode, target } = entry;
      const name = nameIn(root, from, entry);
      const common = { name, mode: safeMode(mode), mtime: new Date(Math.max(0, entry.modifiedAt.getTime())) };
      if (type === 'FILE') {
        await addEntry(controller, { ...common, type: 'file', size }, tree.read(path.split('/'), { signal }));
      } else if (type === 'LINK') {
        await addEntry(controller, { ...common, type: 'symlink', size: 0, linkname: target ?? '' });
      } else await addEntry(controller, { ...common, type: 'directory', size: 0 });
    }
    controller.finalize();
  };
  // The reader of the stream gets the error.
  void pack().catch((error: unknown) => controller.error(error as Error));
  return readable;
}

async function addEntry(
  controller: TarPackController,
  header: Parameters<TarPackController['add']>[0],
  content: Readable | null = null,
): Promise<void> {
  try {
    const writer = controller.add(header).getWriter();
    if (content !== null && header.size > 0) for await (const chunk of content) await writer.write(chunk as Uint8Array);
    await writer.close();
  } finally {
    content?.destroy();
  }
}
