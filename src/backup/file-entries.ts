import { z } from 'zod';
import { BackupError } from './backup-error.ts';
import { fileListName } from './manifest.ts';

/** A stored file: its name in the storage, its size and its hash. */
const fileEntry = z.strictObject({
  key: z.string().regex(/^(?:checkpoints\/)?[0-9a-f]{2}\/[0-9a-f]{32}$/),
  bytes: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** A line of the list of files. */
export type FileEntry = z.output<typeof fileEntry>;

/** Tells if a name is one that the service gives to its files: a backup copies no other path. */
export const isFileKey = (key: string): boolean => fileEntry.shape.key.safeParse(key).success;

/** Reads a line of the list of files. Throws BackupError if it is not one. */
export function parseFileEntry(line: string, number: number): FileEntry {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = null;
  }
  const result = fileEntry.safeParse(value);
  if (!result.success) throw new BackupError(`Line ${number} of ${fileListName} is not the entry of a file.`);
  return result.data;
}
