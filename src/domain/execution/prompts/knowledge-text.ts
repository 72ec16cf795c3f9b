import type { Context } from '../../context.ts';
import { readNoteBodies, type SessionNote } from './knowledge.ts';
import type { SessionFacts } from './session-facts.ts';
import type { FilePaths } from './session-files.ts';

/** Maximum size of the notes that a prompt contains in full, in bytes. */
const fullBudget = 24_576;
/** Maximum length of the index of the other notes, in characters. */
const indexBudget = 12_000;
/** Maximum length of a trigger in the index. */
const triggerLength = 300;

/** The input of the knowledge part of a prompt. */
export interface KnowledgeInput {
  readonly facts: SessionFacts;
  readonly notes: readonly SessionNote[];
  readonly files: FilePaths;
  /** The user's text: a note that is pinned to a repository applies if the session works on it, or the text names it. */
  readonly userText: string;
  readonly hasTool: boolean;
}

/**
 * Returns the knowledge of a session for the agent: in full what is pinned or was named for the session, up to the
 * limit, and the rest as an index. Null if there is none.
 */
export async function knowledgeText(
  context: Pick<Context, 'store'>,
  { facts, notes, files, userText, hasTool }: KnowledgeInput,
): Promise<string | null> {
  if (notes.length === 0) return null;
  const full = inFull(notes, facts, userText);
  const bodies = await readNoteBodies(
    context,
    facts,
    full.map(({ id }) => id),
  );
  const texts = full.map((note) => `## ${note.name}\n\nWhen: ${note.trigger}\n\n${bodies.get(note.id) ?? ''}`);
  const rest = notes.filter((note) => !full.includes(note));
  return ['# Knowledge', ...texts, ...(rest.length > 0 ? [indexOf(rest, files, hasTool)] : [])].join('\n\n');
}

function inFull(
  notes: readonly SessionNote[],
  { knowledgeIds, repositoryNames }: SessionFacts,
  userText: string,
): SessionNote[] {
  const text = userText.toLowerCase();
  let left = fullBudget;
  return notes.filter(({ pinnedRepo, size }) => {
    const pinned = pinnedRepo?.toLowerCase() ?? null;
    const isPinned =
      pinned !== null && (pinned === 'all' || repositoryNames.includes(pinned) || namesRepository(text, pinned));
    if ((!isPinned && knowledgeIds === null) || size > left) return false;
    left -= size;
    return true;
  });
}

// The host is written as in a URL, as in git's short form ("git@host:owner/repo"), or omitted. Without it the name must
// not be the end of a longer one, which may belong to another host.
function namesRepository(text: string, repository: string): boolean {
  if (text.includes(repository)) return true;
  const [, host, path] = /^([^/]+\.[^/]+|[^/]+:\d+)\/([^/]+\/.+)$/.exec(repository) ?? [];
  if (host === undefined || path === undefined || !text.includes(path)) return false;
  return (
    text.includes(`${host}:${path}`) ||
    text
      .split(path)
      .slice(0, -1)
      .some((before) => !/[\w.~:/-]$/.test(before))
  );
}

function indexOf(notes: readonly SessionNote[], files: FilePaths, hasTool: boolean): string {
  let left = indexBudget;
  const lines = notes.flatMap(({ id, name, trigger }) => {
    const path = files.get(id);
    const where = [hasTool ? `note-${id}` : null, path === undefined ? null : `\`${path}\``].filter((each) => each);
    const line = `- ${name} — ${short(trigger)} (${where.join(', ') || 'not to be read'})`;
    left -= line.length + 1;
    return left < 0 ? [] : [line];
  });
  const more = notes.length - lines.length;
  if (more > 0) lines.push(`- … and ${more} more in \`.session/knowledge/\``);
  const how = hasTool ? 'with `read_knowledge` by its id, or from its file' : 'from its file';
  return `More notes, each with when to use it. When one fits, read it first, ${how}:\n\n${lines.join('\n')}`;
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= triggerLength ? line : `${line.slice(0, triggerLength).toWellFormed()}…`;
}
