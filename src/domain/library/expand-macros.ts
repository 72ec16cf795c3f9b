import type { Context } from '../context.ts';

/** The expansion of a macro. */
export interface MacroText {
  /** As written there, with its "!". */
  readonly macro: string;
  readonly kind: 'playbook' | 'note';
  readonly title: string;
  readonly body: string;
}

/** Maximum number of macros in one turn; further names are only text. */
export const maxMacros = 20;

// A separate word: not a part of a longer one (`a!b`, `!important-looking/path`), but a sentence may end after it.
// After a backslash it is only text.
const named = /(?<![\w!/.\\-])![A-Za-z0-9_-]{1,99}(?![\w/-])/g;

const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$/;

/** Leaves out fenced blocks of code: a quoted `!ready` is no macro. A block that is not closed is text. */
function withoutFencedCode(text: string): string {
  if (!text.includes('```') && !text.includes('~~~')) return text;
  const kept: string[] = [];
  let block: { readonly marks: string; readonly lines: string[] } | null = null;
  for (const line of text.split('\n')) {
    const [, marks = '', info = ''] = fence.exec(line.trimEnd()) ?? [];
    if (block === null && marks === '') kept.push(line);
    else if (block === null) block = { marks, lines: [line] };
    else if (info === '' && marks.startsWith(block.marks)) block = null;
    else block.lines.push(line);
  }
  return [...kept, ...(block?.lines ?? [])].join('\n');
}

/**
 * Returns the macros that texts name outside of fenced code, without duplicates, in the texts' order, in lower case. They may
 * not exist.
 */
export function macrosIn(texts: readonly string[]): string[] {
  const names = texts.flatMap((text) =>
    [...withoutFencedCode(text).matchAll(named)].map(([word]) => word.toLowerCase()),
  );
  return [...new Set(names)];
}

// The organization's own macro takes precedence over the enterprise's with the same name.
const expansion = `
  select distinct on (lower(m.macro), m.kind) m.macro, m.kind, m.title, m.body from (
    select p.macro, 'playbook' as kind, p.title, p.body, p.organization_id, p.enterprise_id from playbook p
     where p.deleted_at is null
    union all
    select n.macro, 'note', n.name, n.body, n.organization_id, n.enterprise_id from knowledge_note n where n.is_enabled) m
   where m.enterprise_id = $1 and (m.organization_id is null or m.organization_id = $2) and lower(m.macro) = any($3::text[])
   order by lower(m.macro), m.kind, m.organization_id is null`;

/**
 * Returns the playbooks and notes that texts name by their macros, in the texts' order. A note that a user names by its
 * macro is included even if the session does not select it.
 */
export async function expandMacros(
  context: { readonly store: Pick<Context['store'], 'query'> },
  facts: { readonly enterpriseId: string; readonly organizationId: string },
  texts: readonly string[],
): Promise<MacroText[]> {
  const wanted = macrosIn(texts).slice(0, maxMacros);
  if (wanted.length === 0) return [];
  const rows = await context.store.query<MacroText>(expansion, [facts.enterpriseId, facts.organizationId, wanted]);
  const orderOf = ({ macro }: MacroText) => wanted.indexOf(macro.toLowerCase());
  return rows.sort((a, b) => orderOf(a) - orderOf(b));
}
