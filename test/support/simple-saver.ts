import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { SandboxDriver } from '../../src/agents/sandbox/driver.ts';
import { openDrivers, type SandboxDrivers } from '../../src/agents/sandbox/drivers.ts';
import { sessionIn, workspaceIn } from '../../src/agents/sandbox/local/session-directories.ts';
import { type CheckpointContent, CheckpointError, type Saver } from '../../src/checkpoints/driver.ts';

/** A saver whose segments are JSON: the plain files of a directory with their texts, if one of them has changed. */
export function createSimpleSaver(directory: string): Saver {
  let spool: string | null = null;
  let committed: { readonly text: string; readonly content: CheckpointContent } | null = null;
  let pending: { readonly text: string; readonly content: CheckpointContent } | null = null;
  return {
    async save({ withIgnored }) {
      const entries = await readdir(directory, { withFileTypes: true });
      const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
      const files = Object.fromEntries(
        await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const)),
      );
      const text = JSON.stringify(files);
      if (text === committed?.text && !(withIgnored && committed.content.ignored === null)) return null;
      const id = randomBytes(16).toString('hex');
      spool ??= await mkdtemp(join(tmpdir(), 'saver-'));
      await writeFile(join(spool, id), text);
      const layer = { manifest: [id], segments: [id], files: names.length, bytes: text.length, missing: [] };
      const content = { format: 1, files: layer, ignored: withIgnored ? layer : null } as const;
      pending = { text, content };
      const segment = { id, path: join(spool, id), bytes: text.length };
      return { content, segments: [segment], files: names.length, bytes: text.length, missing: [] };
    },
    async commit() {
      committed = pending;
    },
    async abort() {
      pending = null;
    },
    async close() {
      if (spool !== null) await rm(spool, { recursive: true, force: true });
    },
  };
}

/** Opens the drivers of this machine; they save workspaces with a {@link createSimpleSaver}, and restore them. */
export async function openSavingDrivers(...options: Parameters<typeof openDrivers>): Promise<SandboxDrivers> {
  const drivers = await openDrivers(...options);
  const { dataDir } = options[0];
  const withSaver = (driver: SandboxDriver): SandboxDriver => ({
    ...driver,
    async restoreWorkspace({ sessionId, content, segments }) {
      const stream = await segments.read(content.files.segments[0] ?? '');
      if (stream === null) throw new CheckpointError('DAMAGED', 'A segment is missing.');
      const files = Object.entries(JSON.parse(await text(stream)) as Record<string, string>);
      await driver.workspaces.discard(sessionId);
      const workspace = workspaceIn(sessionIn(dataDir, sessionId));
      await mkdir(workspace, { recursive: true });
      for (const [name, each] of files) await writeFile(join(workspace, name), each);
      return { files: files.length, bytes: 0 };
    },
    async open(request) {
      const sandbox = await driver.open(request);
      return { ...sandbox, openSaver: async () => createSimpleSaver(sandbox.paths.workspace) };
    },
  });
  return { ...drivers, driverFor: (settings) => withSaver(drivers.driverFor(settings)) };
}
