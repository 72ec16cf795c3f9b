import type { Store } from '../../store/store.ts';
import { refuse } from '../errors.ts';
import { parseId } from '../ids.ts';
import { expandMacros, maxMacros } from '../prompts/macros.ts';
import { environmentNameOf } from '../secret-names.ts';
import { type PromptTokens, readPromptTokens } from './prompt-tokens.ts';

/** What a session gets by what its prompt names. */
export interface PromptReferences {
  /** Bare, of the first that is named; null: none is. */
  readonly playbookId: string | null;
  /** Bare; null: no secret is named, which says nothing about what the session has. */
  readonly secretIds: readonly string[] | null;
  /** `owner/name`; null: none is named. */
  readonly repos: readonly string[] | null;
}

/** Whose playbooks, macros and secrets are meant. Bare ids. */
export interface PromptPlace {
  readonly organizationId: string;
  readonly enterpriseId: string;
}

type Reader = Pick<Store, 'query'>;

/** The most names of each kind in one prompt. */
const most = { playbooks: 20, macros: maxMacros, secrets: 100, repos: 100 } as const;

/**
 * Looks up what a prompt names. At `path`: UNKNOWN_REFERENCE for a playbook, a macro or a secret that the organization has not,
 * INVALID_INPUT for too many. A repository is only a name: the service is connected to none.
 */
export async function resolvePrompt(
  reader: Reader,
  place: PromptPlace,
  prompt: string,
  path: readonly string[],
): Promise<PromptReferences> {
  const tokens = readPromptTokens(prompt);
  for (const [kind, count] of Object.entries(most)) {
    const named = tokens[kind as keyof PromptTokens].length;
    if (named > count) throw refuse(path, `"${path.at(-1)}" names ${named} ${kind}, and may name at most ${count}.`);
  }
  const [playbookId = null] = await findPlaybooks(reader, place, tokens.playbooks, path);
  await requireMacros(reader, place, tokens.macros, path);
  const secretIds = await findSecrets(reader, place, tokens.secrets, path);
  return { playbookId, secretIds, repos: tokens.repos.length > 0 ? tokens.repos : null };
}

// The organization's own before the enterprise's of the same title, then the oldest: whoever makes another takes nothing over.
async function findPlaybooks(
  reader: Reader,
  { organizationId, enterpriseId }: PromptPlace,
  names: readonly string[],
  path: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const ids = names.map((name) => parseId('playbook', name));
  const titles = names.map((name) => name.toLowerCase());
  const rows = await reader.query<{ id: string; title: string | null }>(
    `with usable as (select p.id, lower(p.title) as title, p.organization_id, p.created_at from playbook p
       where p.enterprise_id = $1 and (p.organization_id = $2 or p.organization_id is null) and p.deleted_at is null)
     select u.id, null as title from usable u where u.id = any($3::text[])
     union all
     (select distinct on (u.title) u.id, u.title from usable u where u.title = any($4::text[])
       order by u.title, u.organization_id is null, u.created_at, u.id)`,
    [enterpriseId, organizationId, ids.filter((id) => id !== null), titles],
  );
  return names.map((name, n) => {
    const found =
      rows.find(({ id, title }) => title === null && id === ids[n]) ?? rows.find(({ title }) => title === titles[n]);
    if (!found) throw unknown(path, 'the playbook', name, `@playbook:${name}`);
    return found.id;
  });
}

// They are put in when the agent's turn is made, as in every message.
async function requireMacros(
  reader: Reader,
  place: PromptPlace,
  names: readonly string[],
  path: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  const known = new Set(
    (await expandMacros({ store: reader }, place, [names.join(' ')])).map(({ macro }) => macro.toLowerCase()),
  );
  const missing = names.find((name) => !known.has(name));
  if (missing !== undefined) throw unknown(path, 'the macro', missing, missing);
}

// By their own names, or else by those of the variables that they are for the agent.
async function findSecrets(
  reader: Reader,
  { organizationId }: PromptPlace,
  names: readonly string[],
  path: readonly string[],
): Promise<string[] | null> {
  if (names.length === 0) return null;
  // There are at most 1,000, and only their names are read.
  const rows = await reader.query<{ id: string; key: string }>(
    'select x.id, x.key from secret x where x.organization_id = $1 order by x.created_at, x.id',
    [organizationId],
  );
  return names.map((name) => {
    const found = rows.find(({ key }) => key === name) ?? rows.find(({ key }) => environmentNameOf(key) === name);
    if (!found) throw unknown(path, 'the secret', name, `\${${name}}`);
    return found.id;
  });
}

function unknown(path: readonly string[], what: string, name: string, written: string): Error {
  const shown = JSON.stringify(name.slice(0, 80));
  const message = `"${path.at(-1)}" names ${what} ${shown}, which does not exist. Where it is only text, write \\${written.slice(0, 100)}.`;
  return refuse(path, message, 'UNKNOWN_REFERENCE');
}
