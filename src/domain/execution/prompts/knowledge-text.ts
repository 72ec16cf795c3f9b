import type { Context } from '../../context.ts';
import { readNoteBodies, type SessionNote } from './knowledge.ts';
import type { SessionFacts } from './session-facts.ts';
import type { FilePaths } from './session-files.ts';

/** The most of notes' texts that a prompt has in full, in bytes. */
const fullBudget = 24_576;
/** The most of the index of the others, in characters. */
const indexBudget = 12_000;
/** The most of a trigger that the index has. */
const triggerLength = 300;

/** What the agent is to know, and how it reads more. */
export interface KnowledgeInput {
  readonly facts: SessionFacts;
  readonly notes: readonly SessionNote[];
  readonly files: FilePaths;
  /** The user's words: a note that is pinned to a repository is for who speaks of it. */
  readonly userText: string;
  readonly hasTool: boolean;
}

/**
 * The knowledge of a session as the agent is told of it: in full what is pinned or was named for the session, as far as the
 * budget goes, and the rest as an index. Null when there is none.
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

function inFull(notes: readonly SessionNote[], { knowledgeIds }: SessionFacts, userText: string): SessionNote[] {
  const text = userText.toLowerCase();
  let left = fullBudget;
  return notes.filter(({ pinnedRepo, size }) => {
    const isPinned = pinnedRepo !== null && (pinnedRepo === 'all' || namesRepository(text, pinnedRepo.toLowerCase()));
    if ((!isPinned && knowledgeIds === null) || size > left) return false;
    left -= size;
    return true;
  });
}

// A host is written as in an address, as git's short form has it ("git@host:owner/repo"), or left out. Without it the name
// must not be the end of a longer one, which may be another host's.
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
