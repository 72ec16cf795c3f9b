import type { Context } from '../context.ts';

/** What a macro stands for. */
export interface MacroText {
  /** As it is written there, with its "!". */
  readonly macro: string;
  readonly kind: 'playbook' | 'note';
  readonly title: string;
  readonly body: string;
}

/** The most macros of one turn; what a text names beyond them is only text. */
export const maxMacros = 20;

// A word of its own: no part of a longer one (`a!b`, `!important-looking/path`), but a sentence may end behind it. With a
// backslash before it, it is only text.
const named = /(?<![\w!/.\\-])![A-Za-z0-9_-]{1,99}(?![\w/-])/g;

/** The macros that texts name, each once, in the texts' order, in lower case. They may be none that there are. */
export function macrosIn(texts: readonly string[]): string[] {
  const names = texts.flatMap((text) => [...text.matchAll(named)].map(([word]) => word.toLowerCase()));
  return [...new Set(names)];
}

// The organization's own stands before the enterprise's of the same name.
const expansion = `
  select distinct on (lower(m.macro), m.kind) m.macro, m.kind, m.title, m.body from (
    select p.macro, 'playbook' as kind, p.title, p.body, p.organization_id, p.enterprise_id from playbook p
     where p.deleted_at is null
    union all
    select n.macro, 'note', n.name, n.body, n.organization_id, n.enterprise_id from knowledge_note n where n.is_enabled) m
   where m.enterprise_id = $1 and (m.organization_id is null or m.organization_id = $2) and lower(m.macro) = any($3::text[])
   order by lower(m.macro), m.kind, m.organization_id is null`;

/**
 * The playbooks and notes that texts call by their macros, in the texts' order. A user who calls a note by its macro has it,
 * whatever notes the session selects.
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
