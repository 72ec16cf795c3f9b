import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import type { GitForge } from './git-forge.ts';

/** An entry of a tree. Git's own commands would refuse many of these names. */
export type TreeEntry = readonly [mode: string, name: string | Buffer, id: string];

/** Modes of tree entries. */
export const modes = { file: '100644', link: '120000', directory: '40000', submodule: '160000' } as const;

/** Writes objects into a repository of a forge, without the checks of git. */
export interface ObjectWriter {
  blob(content: string | Buffer): Promise<string>;
  /** Entries must be in git's order. */
  tree(...entries: readonly TreeEntry[]): Promise<string>;
  /** Commits a tree to `main`, and returns the commit. */
  commit(tree: string, message?: string | Buffer): Promise<string>;
  /** Writes any object, even one that is malformed. */
  object(type: string, content: Buffer): Promise<string>;
}

/** Creates a writer of objects for a repository. */
export function writeObjects(forge: GitForge, path: string): ObjectWriter {
  const directory = forge.directoryOf(path);
  const object = async (type: string, content: Buffer) => {
    const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    const id = createHash('sha1').update(whole).digest('hex');
    const file = join(directory, 'objects', id.slice(0, 2), id.slice(2));
    if (!existsSync(file)) {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, deflateSync(whole, { level: 1 }));
    }
    return id;
  };
  return {
    object,
    blob: (content) => object('blob', Buffer.from(content)),
    tree: (...entries) =>
      object(
        'tree',
        Buffer.concat(
          entries.flatMap(([mode, name, id]) => [
            Buffer.from(`${mode} `),
            Buffer.from(name),
            Buffer.from([0]),
            Buffer.from(id, 'hex'),
          ]),
        ),
      ),
    async commit(tree, message = 'Attack\n') {
      const person = 'Ada <ada@example.com> 1700000000 +0000';
      const head = Buffer.from(`tree ${tree}\nauthor ${person}\ncommitter ${person}\n\n`);
      const id = await object('commit', Buffer.concat([head, Buffer.from(message)]));
      await forge.git(path, 'update-ref', 'refs/heads/main', id);
      return id;
    },
  };
}
