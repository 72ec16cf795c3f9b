import type { Store } from '../../../store/store.ts';
import { DomainError, refuse } from '../../errors.ts';
import { expandMacros, maxMacros } from '../../execution/prompts/macros.ts';
import { parseId } from '../../ids.ts';
import { environmentNameOf } from '../../secret-names.ts';
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
export interface PromptScope {
  readonly organizationId: string;
  readonly enterpriseId: string;
}

type Reader = Pick<Store, 'query'>;

/** The most names of each kind in one prompt. */
const maxNames = { playbooks: 20, macros: maxMacros, secrets: 100, repos: 100 } as const;

/**
 * Looks up what a prompt names. At `path`: UNKNOWN_REFERENCE for playbooks, macros and secrets that the organization has not, all
 * of them at once; INVALID_INPUT for too many. A repository is only a name: the service is connected to none.
 */
export async function resolvePrompt(
  reader: Reader,
  scope: PromptScope,
  prompt: string,
  path: readonly string[],
): Promise<PromptReferences> {
  const tokens = readPromptTokens(prompt);
  for (const [kind, count] of Object.entries(maxNames)) {
    const named = tokens[kind as keyof PromptTokens].length;
    if (named > count) throw refuse(path, `"${path.at(-1)}" names ${named} ${kind}, and may name at most ${count}.`);
  }
  const playbooks = await findPlaybooks(reader, scope, tokens.playbooks);
  const macros = await findUnknownMacros(reader, scope, tokens.macros);
  const secrets = await findSecrets(reader, scope, tokens.secrets);
  const missing = [...playbooks.missing, ...macros, ...secrets.missing];
  if (missing.length > 0) throw unknown(path, missing);
  const [playbookId = null] = playbooks.ids;
  const secretIds = tokens.secrets.length === 0 ? null : secrets.ids;
  return { playbookId, secretIds, repos: tokens.repos.length > 0 ? tokens.repos : null };
}

// The organization's own before the enterprise's of the same title, then the oldest: whoever makes another takes nothing over.
async function findPlaybooks(
  reader: Reader,
  { organizationId, enterpriseId }: PromptScope,
  names: readonly string[],
): Promise<Found> {
  if (names.length === 0) return { ids: [], missing: [] };
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
  return sort(names, (name, n) => ({
    found:
      rows.find(({ id, title }) => title === null && id === ids[n]) ?? rows.find(({ title }) => title === titles[n]),
    missing: { what: 'the playbook', name, written: `@playbook:${name}` },
  }));
}

// They are put in when the agent's turn is made, as in every message.
async function findUnknownMacros(reader: Reader, scope: PromptScope, names: readonly string[]): Promise<Missing[]> {
  if (names.length === 0) return [];
  const knownMacros = new Set(
    (await expandMacros({ store: reader }, scope, [names.join(' ')])).map(({ macro }) => macro.toLowerCase()),
  );
  return names.filter((name) => !knownMacros.has(name)).map((name) => ({ what: 'the macro', name, written: name }));
}

// By their own names, or else by those of the variables that they are for the agent.
async function findSecrets(reader: Reader, { organizationId }: PromptScope, names: readonly string[]): Promise<Found> {
  if (names.length === 0) return { ids: [], missing: [] };
  // There are at most 1,000, and only their names are read.
  const rows = await reader.query<{ id: string; key: string }>(
    'select x.id, x.key from secret x where x.organization_id = $1 order by x.created_at, x.id',
    [organizationId],
  );
  return sort(names, (name) => ({
    found: rows.find(({ key }) => key === name) ?? rows.find(({ key }) => environmentNameOf(key) === name),
    missing: { what: 'the secret', name, written: `\${${name}}` },
  }));
}

/** A name of nothing: what it should be, and how it is written in the prompt. */
interface Missing {
  readonly what: string;
  readonly name: string;
  readonly written: string;
}

interface Found {
  readonly ids: string[];
  readonly missing: Missing[];
}

function sort(
  names: readonly string[],
  find: (name: string, n: number) => { found: { id: string } | undefined; missing: Missing },
): Found {
  const all = names.map(find);
  return {
    ids: all.flatMap(({ found }) => (found ? [found.id] : [])),
    missing: all.flatMap(({ found, missing }) => (found ? [] : [missing])),
  };
}

/** Of so many names it is said that there is nothing. */
const maxReported = 20;

function unknown(path: readonly string[], missing: readonly Missing[]): DomainError {
  const issues = missing.slice(0, maxReported).map(({ what, name, written }) => {
    const shown = JSON.stringify(name.slice(0, 80));
    const message = `"${path.join('.')}" names ${what} ${shown}, which does not exist. Where it is only text, write \\${written.slice(0, 100)}.`;
    return { path, message };
  });
  return new DomainError('UNKNOWN_REFERENCE', issues.map(({ message }) => message).join(' '), issues);
}
