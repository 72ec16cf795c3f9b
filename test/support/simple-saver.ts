import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxDriver } from '../../src/agents/sandbox/driver.ts';
import { openDrivers, type SandboxDrivers } from '../../src/agents/sandbox/drivers.ts';
import type { CheckpointContent, Saver } from '../../src/checkpoints/driver.ts';

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

/** Opens the drivers of this machine; their sandboxes save workspaces with a {@link createSimpleSaver}. */
export async function openSavingDrivers(...options: Parameters<typeof openDrivers>): Promise<SandboxDrivers> {
  const drivers = await openDrivers(...options);
  const withSaver = (driver: SandboxDriver): SandboxDriver => ({
    ...driver,
    async open(request) {
      const sandbox = await driver.open(request);
      return { ...sandbox, openSaver: async () => createSimpleSaver(sandbox.paths.workspace) };
    },
  });
  return { ...drivers, driverFor: (settings) => withSaver(drivers.driverFor(settings)) };
}
