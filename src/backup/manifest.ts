import { z } from 'zod';
import { BackupError } from './backup-error.ts';

/** The version of the format. A reader refuses any other one. */
const formatVersion = 1;

/** The name of the manifest. It is written last: a backup without it is not complete. */
export const manifestName = 'manifest.json';
/** The name of the list of files, one JSON object in a line. */
export const fileListName = 'files.jsonl.gz';
/** The name of the file with SECRET_KEY. */
export const keyName = 'secret.key.json';

/** The name of the file with the rows of a table. */
export const tableName = (table: string): string => `tables/${table}.jsonl.gz`;
/** The name of the copy of a stored file. */
export const copyName = (key: string): string => `files/${key}`;

/** Maximum size of a manifest. */
export const maxManifestBytes = 4 * 1_048_576;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const identifier = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);

/** The size and the hash of a file of the backup. */
const storedFile = z.strictObject({ bytes: count, sha256 });

/** A table: its columns in the order of the values, and the lines, before and after compression. */
const tableEntry = z.strictObject({
  name: identifier,
  columns: z.array(identifier).min(1).max(1_000),
  rows: count,
  /** Of the lines before the compression. */
  content: storedFile,
  /** Of the file in the backup. */
  file: storedFile,
});

const manifest = z.strictObject({
  format: z.literal(formatVersion),
  /** The version of the service that wrote the backup. */
  version: z.string().min(1).max(64),
  createdAt: z.iso.datetime(),
  migrations: z.array(z.strictObject({ name: z.string().min(1).max(255), checksum: sha256 })).max(10_000),
  keyFingerprint: z.string().regex(/^[0-9a-f]{16}$/),
  /** The first number of a transaction that the database had not used. */
  nextTransaction: z.string().regex(/^\d{1,18}$/),
  tables: z.array(tableEntry).max(1_000),
  files: z.strictObject({
    count,
    bytes: count,
    /** Files that rows name and that the storage did not have. */
    missing: count,
    content: storedFile,
    file: storedFile,
  }),
  /** The file with SECRET_KEY; null: the backup does not have it. */
  key: z.strictObject({ isSealed: z.boolean(), file: storedFile }).nullable(),
});

/** The content of a backup. */
export type Manifest = z.output<typeof manifest>;
/** A table in a {@link Manifest}. */
export type TableEntry = z.output<typeof tableEntry>;
/** The size and the hash of a file. */
export type StoredFile = z.output<typeof storedFile>;

/** Returns the manifest of this format. */
export const makeManifest = (content: Omit<Manifest, 'format'>): Manifest => ({ format: formatVersion, ...content });

/** Reads the text of a manifest. Throws BackupError if it is not one of this format. */
export function parseManifest(text: string): Manifest {
  const value = parseJson(text);
  const { format } = (value ?? {}) as { format?: unknown };
  if (typeof format === 'number' && format !== formatVersion)
    throw new BackupError(`The backup has the format ${format}, and this version reads the format ${formatVersion}.`);
  const result = manifest.safeParse(value);
  if (!result.success) {
    const path = result.error.issues[0]?.path.join('.') ?? '';
    throw new BackupError(`${manifestName} of the backup is damaged${path === '' ? '' : ` at "${path}"`}.`);
  }
  const names = result.data.tables.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new BackupError(`${manifestName} of the backup lists a table twice.`);
  return result.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
