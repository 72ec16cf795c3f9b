import { createHash } from 'node:crypto';
import type { WorkspaceFiles } from '../../../agents/sandbox/workspaces.ts';
import type { Context } from '../../context.ts';
import type { AttachmentRecord } from '../../sessions/attachments/attachments.ts';
import type { RunSecrets } from '../runs/run-secrets.ts';
import { readNoteBodies, type SessionNote } from './knowledge.ts';
import type { SessionFacts } from './session-facts.ts';

/** The service's own directory in a workspace, which the agent may read and write. */
export const sessionDirectory = '.session';
/** Files that the agent leaves for the user. */
export const outputsDirectory = 'outputs';
/** The cookies of the current run. */
export const secretsDirectory = 'secrets';

/** Maximum size of all notes' texts that are written to files, in bytes. */
const maxKnowledgeBytes = 8_388_608;
/** Number of texts that are read at once. */
const noteBatch = 20;
/** Maximum length of a file's name, in bytes: systems allow 255, and a temporary file has a longer name. */
const maxNameBytes = 150;

/** An attachment of a session with the key of its file, and whether another attachment of the session has its name. */
export type StoredAttachment = Pick<AttachmentRecord, 'id' | 'name' | 'contentType' | 'sizeBytes'> & {
  readonly storageKey: string;
  readonly isNameShared: boolean;
};

/** Paths relative to the workspace, by the ids of notes and of attachments, and by the keys of secrets. */
export type FilePaths = ReadonlyMap<string, string>;

/** Creates the service's directory with its fixed files. The agent's repositories never include it. */
export async function createSessionDirectory(workspace: WorkspaceFiles): Promise<void> {
  await workspace.inDirectory([sessionDirectory], (directory) => directory.write('.gitignore', '*\n', 0o644));
  await workspace.inDirectory([sessionDirectory, outputsDirectory], async () => undefined);
}

/**
 * Writes the cookies of a run to `.session/secrets`, each to a file that only its owner can read, and removes earlier
 * files there. Returns their paths by key.
 */
export async function writeSecretFiles(
  workspace: WorkspaceFiles,
  secretFiles: RunSecrets['secretFiles'],
): Promise<FilePaths> {
  const paths = new Map<string, string>();
  await workspace.empty([sessionDirectory, secretsDirectory], Number.MAX_SAFE_INTEGER);
  return workspace.inDirectory([sessionDirectory, secretsDirectory], async (directory) => {
    for (const { key, content } of secretFiles) {
      // The keys of two secrets may differ only in characters that a file name cannot have, or in case.
      const name = fileName(key);
      const free = (await directory.hasFile(name)) ? withMark(name, hashOf(key)) : name;
      await directory.write(free, content);
      paths.set(key, `${sessionDirectory}/${secretsDirectory}/${free}`);
    }
    return paths;
  });
}

/** Removes the secrets from the workspace. Call it when the agent has stopped. Never rejects. */
export async function clearSecretFiles(workspace: WorkspaceFiles): Promise<void> {
  await writeSecretFiles(workspace, []).catch(() => undefined);
}

/** Writes notes to `.session/knowledge`, for agents without a tool to read them, and removes other files there. */
export async function writeNotes(
  context: Context,
  workspace: WorkspaceFiles,
  facts: SessionFacts,
  notes: readonly SessionNote[],
): Promise<FilePaths> {
  let bytes = 0;
  const includedNotes = notes.filter(({ size }) => {
    bytes += size;
    return bytes <= maxKnowledgeBytes;
  });
  const names = new Map(includedNotes.map(({ id, name }) => [id, `${slugOf(name)}-${id.slice(-6)}.md`]));
  await workspace.inDirectory([sessionDirectory, 'knowledge'], async (directory) => {
    const wanted = new Set(names.values());
    for await (const name of directory.names()) if (!wanted.has(name)) await directory.remove(name);
    for (let from = 0; from < includedNotes.length; from += noteBatch) {
      const batch = includedNotes.slice(from, from + noteBatch);
      const bodies = await readNoteBodies(
        context,
        facts,
        batch.map(({ id }) => id),
      );
      for (const note of batch) {
        const body = bodies.get(note.id);
        if (body === undefined) continue;
        const text = `# ${note.name}\n\nWhen to use this: ${note.trigger}\n\n${body}\n`;
        await directory.write(names.get(note.id) as string, text, 0o644);
      }
    }
  });
  return new Map([...names].map(([id, name]) => [id, `${sessionDirectory}/knowledge/${name}`]));
}

/**
 * Writes attachments to `.session/attachments`; an existing file does not change, because the agent may have edited it.
 * Skips an attachment whose file is gone from the store.
 */
export async function writeAttachments(
  context: Pick<Context, 'files'>,
  workspace: WorkspaceFiles,
  attachments: readonly StoredAttachment[],
): Promise<FilePaths> {
  const paths = new Map<string, string>();
  if (attachments.length === 0) return paths;
  await workspace.inDirectory([sessionDirectory, 'attachments'], async (directory) => {
    for (const { id, name: originalName, storageKey, isNameShared } of attachments) {
      const name = fileName(isNameShared ? withMark(originalName, storageKey.slice(-6)) : originalName);
      if (!(await directory.hasFile(name))) {
        const content = await context.files.read(storageKey);
        if (content === null) continue;
        await directory.write(name, content, 0o644);
      }
      paths.set(id, `${sessionDirectory}/attachments/${name}`);
    }
  });
  return paths;
}

// Returns a name for any file system: shortened if necessary, with as much of the extension as is significant.
function fileName(originalName: string): string {
  const name = originalName.replaceAll(/[/\0]/g, '_');
  if (Buffer.byteLength(name) <= maxNameBytes && !/^\.{0,2}$/.test(name)) return name;
  const ending = /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? '';
  const mark = hashOf(originalName);
  return `${Buffer.from(name).subarray(0, 100).toString().replaceAll('\uFFFD', '')}-${mark}${ending}`;
}

function withMark(name: string, mark: string): string {
  const [, stem = '', ending = ''] = /^(.+?)(\.[A-Za-z0-9]{1,16})?$/s.exec(name) ?? [];
  return `${stem}-${mark}${ending}`;
}

// Returns words that a file name can have on any system; the id after it makes it unique.
function slugOf(name: string): string {
  const words = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return (
    words
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, 60)
      .replaceAll(/^-+|-+$/g, '') || 'note'
  );
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
