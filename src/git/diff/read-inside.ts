import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Reads a file below a directory by the names of its path. Follows no link, also if an agent exchanges a directory
 * meanwhile. Null: there is no such file, or it is longer than `maxBytes`.
 */
export async function readInside(
  directory: string,
  names: readonly string[],
  maxBytes: number,
): Promise<string | null> {
  const handles: FileHandle[] = [];
  try {
    let path = directory;
    for (const [n, name] of names.entries()) {
      const isLast = n === names.length - 1;
      const flags = O_RDONLY | O_NOFOLLOW | (isLast ? O_NONBLOCK : O_DIRECTORY);
      const handle = await open(join(path, name), flags);
      handles.push(handle);
      // The number of an open directory stands for itself, whatever has its name now.
      path = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : join(path, name);
    }
    const file = handles.at(-1);
    if (file === undefined || !(await file.stat()).isFile()) return null;
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
      length += bytesRead;
      if (length > maxBytes) return null;
      if (bytesRead === 0) return buffer.toString('utf8', 0, length);
    }
  } catch {
    return null;
  } finally {
    for (const handle of handles) await handle.close();
  }
}

const maxPackedRefsBytes = 4 * 1_048_576;

/** Returns the commit that HEAD of a clone names, without git: the agent can write anything there. Null: none. */
export async function readHead(clone: string): Promise<string | null> {
  const head = (await readInside(clone, ['.git', 'HEAD'], 1_024))?.trim() ?? '';
  const ref = /^ref: (refs\/heads\/.+)$/.exec(head)?.[1];
  if (ref === undefined) return idOf(head);
  const names = ref.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..' || name.includes('\0'))) return null;
  const loose = await readInside(clone, ['.git', ...names], 1_024);
  if (loose !== null) return idOf(loose.trim());
  const packed = await readInside(clone, ['.git', 'packed-refs'], maxPackedRefsBytes);
  const line = packed?.split('\n').find((each) => each.endsWith(` ${ref}`));
  return idOf(line?.slice(0, -ref.length - 1) ?? '');
}

function idOf(text: string): string | null {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : null;
}
