import { createHash } from 'node:crypto';
import { inDirectory } from '../../../agents/safe-directory.ts';
import type { Context } from '../../context.ts';
import type { AttachmentRecord } from '../../sessions/attachments/attachments.ts';
import type { LaunchPlan } from '../runs/launch.ts';
import { readNoteBodies, type SessionNote } from './knowledge.ts';
import type { SessionFacts } from './session-facts.ts';

/** The service's own directory in a workspace; the agent reads and writes in it as it likes. */
export const sessionDirectory = '.session';
/** What the agent leaves for the user. */
export const outputsDirectory = 'outputs';
/** The cookies of the run that goes on. */
export const secretsDirectory = 'secrets';

/** The most of the notes' texts, together, in bytes, that are put into files. */
const maxKnowledgeBytes = 8_388_608;
/** How many texts are read at once. */
const noteBatch = 20;
/** The longest name of a file, in bytes: systems allow 255, and a draft has a longer one. */
const maxNameBytes = 150;

/** An attachment of a session, where its file is kept, and whether another one of the session has its name. */
export type StoredAttachment = Pick<AttachmentRecord, 'id' | 'name' | 'contentType' | 'sizeBytes'> & {
  readonly storageKey: string;
  readonly isNameShared: boolean;
};

/** Where things are, from the workspace on; by the ids of notes and of attachments, and by the keys of secrets. */
export type FilePaths = ReadonlyMap<string, string>;

/** Makes the service's directory with what is always there. Nothing in it is ever a part of a repository of the agent's. */
export async function createSessionDirectory({ workspaceDir }: LaunchPlan): Promise<void> {
  await inDirectory(workspaceDir, [sessionDirectory], (directory) => directory.write('.gitignore', '*\n', 0o644));
  await inDirectory(workspaceDir, [sessionDirectory, outputsDirectory], async () => undefined);
}

/**
 * Puts the cookies of a run into `.session/secrets`, each in a file that only its owner reads; what was there before is
 * taken away. Gives where they are, by their keys.
 */
export function writeSecretFiles({ workspaceDir, secretFiles }: LaunchPlan): Promise<FilePaths> {
  const paths = new Map<string, string>();
  return inDirectory(workspaceDir, [sessionDirectory, secretsDirectory], async (directory) => {
    for await (const name of directory.names()) await directory.remove(name);
    for (const { key, content } of secretFiles) {
      // Other secrets' keys differ in what a name cannot have, or in upper and lower case.
      const name = fileName(key);
      const free = (await directory.hasFile(name)) ? withMark(name, hashOf(key)) : name;
      await directory.write(free, content);
      paths.set(key, `${sessionDirectory}/${secretsDirectory}/${free}`);
    }
    return paths;
  });
}

/** Takes the secrets out of the workspace again. To be called when the agent has stopped. Never rejects. */
export async function clearSecretFiles(plan: LaunchPlan): Promise<void> {
  await writeSecretFiles({ ...plan, secretFiles: [] }).catch(() => undefined);
}

/** Puts notes into `.session/knowledge`, for agents without a tool to read them; others that were there go. */
export async function writeNotes(
  context: Context,
  plan: LaunchPlan,
  facts: SessionFacts,
  notes: readonly SessionNote[],
): Promise<FilePaths> {
  let bytes = 0;
  const includedNotes = notes.filter(({ size }) => {
    bytes += size;
    return bytes <= maxKnowledgeBytes;
  });
  const names = new Map(includedNotes.map(({ id, name }) => [id, `${slugOf(name)}-${id.slice(-6)}.md`]));
  await inDirectory(plan.workspaceDir, [sessionDirectory, 'knowledge'], async (directory) => {
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
 * Puts attachments into `.session/attachments`; one that is there already stays as it is, the agent may have changed it. One
 * whose file is gone from the store is left out.
 */
export async function writeAttachments(
  context: Pick<Context, 'files'>,
  plan: LaunchPlan,
  attachments: readonly StoredAttachment[],
): Promise<FilePaths> {
  const paths = new Map<string, string>();
  if (attachments.length === 0) return paths;
  await inDirectory(plan.workspaceDir, [sessionDirectory, 'attachments'], async (directory) => {
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

// A name on any disk: not too long, and of the end of a long one as much as says what it is.
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

// Words that a file's name can have anywhere; the id behind it makes it unique.
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
