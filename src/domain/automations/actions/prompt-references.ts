import { refuse } from '../../../common/errors.ts';
import type { Store } from '../../../store/store.ts';
import { parseId } from '../../ids.ts';
import { expandMacros, maxMacros } from '../../library/expand-macros.ts';
import {
  findUnknownReferences,
  hasHadGitConnections,
  unknownHint,
  unknownMessage,
  unknownReferences,
} from '../../repositories/resolve-repositories.ts';
import { environmentNameOf } from '../../secret-names.ts';
import { type PromptTokens, readPromptTokens } from './prompt-tokens.ts';

/** The references of a prompt, resolved for its session. */
export interface PromptReferences {
  /** Unprefixed id of the first playbook in the prompt; null: none. */
  readonly playbookId: string | null;
  /** Unprefixed ids; null: the prompt names no secret, and the session's secrets do not change. */
  readonly secretIds: readonly string[] | null;
  /** `owner/name`; null: the prompt names none. */
  readonly repos: readonly string[] | null;
}

/** The scope in which playbooks, macros and secrets are looked up. Unprefixed ids. */
export interface PromptScope {
  readonly organizationId: string;
  readonly enterpriseId: string;
}

type Reader = Pick<Store, 'query'>;

/** Maximum number of names of each kind in one prompt. */
const maxNames = { playbooks: 20, macros: maxMacros, secrets: 100, repos: 100 } as const;

/**
 * Looks up the references of a prompt. Throws at `path`: UNKNOWN_REFERENCE for all playbooks, macros, secrets and
 * repositories that the organization lacks; INVALID_INPUT for too many. In an enterprise that never had a git
 * connection, repositories are only names.
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
  const repositories = await findUnknownRepositories(reader, scope, tokens.repos);
  const missing = [...playbooks.missing, ...macros, ...secrets.missing].map(describeMissing);
  if (missing.length > 0 || repositories.length > 0) {
    const hint = repositories.length > 0 ? await unknownHint(reader, scope.organizationId) : '';
    const messages = [...missing, ...repositories.map((name) => `${unknownMessage(name)}${asText(`@${name}`)}`)];
    throw unknownReferences(
      messages.slice(0, maxReported).map((message) => ({ path, message })),
      hint,
    );
  }
  const [playbookId = null] = playbooks.ids;
  const secretIds = tokens.secrets.length === 0 ? null : secrets.ids;
  return { playbookId, secretIds, repos: tokens.repos.length > 0 ? tokens.repos : null };
}

// Playbooks of the organization come before the enterprise's with the same title, then the oldest first: a new playbook
// cannot take over an existing reference.
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

// Macros are expanded when the agent's turn is built, as in every message.
async function findUnknownMacros(reader: Reader, scope: PromptScope, names: readonly string[]): Promise<Missing[]> {
  if (names.length === 0) return [];
  const knownMacros = new Set(
    (await expandMacros({ store: reader }, scope, [names.join(' ')])).map(({ macro }) => macro.toLowerCase()),
  );
  return names.filter((name) => !knownMacros.has(name)).map((name) => ({ what: 'the macro', name, written: name }));
}

/**
 * Returns those of these names of repositories that an organization may not use, or that do not exist; none in an enterprise
 * that never had a git connection.
 */
async function findUnknownRepositories(
  reader: Reader,
  { enterpriseId, organizationId }: PromptScope,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0 || !(await hasHadGitConnections(reader, enterpriseId))) return [];
  return findUnknownReferences(reader, organizationId, names);
}

/**
 * Checks the repositories that an action names besides its prompt. Throws UNKNOWN_REFERENCE at the index of each below `path` that
 * the organization may not use. In an enterprise that never had a git connection, they are only names.
 */
export async function requireRepositories(
  reader: Reader,
  scope: PromptScope,
  names: readonly string[],
  path: readonly string[],
): Promise<void> {
  const missing = new Set(await findUnknownRepositories(reader, scope, names));
  if (missing.size === 0) return;
  const issues = names.flatMap((name, n) =>
    missing.has(name) ? [{ path: [...path, String(n)], message: unknownMessage(name) }] : [],
  );
  throw unknownReferences(issues.slice(0, maxReported), await unknownHint(reader, scope.organizationId));
}

// Secrets are found by their own names, or else by the environment variables that they become for the agent.
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

/** A reference to nothing: the kind of object, and its text in the prompt. */
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

/** Maximum number of missing references in an error. */
const maxReported = 20;

const describeMissing = ({ what, name, written }: Missing) =>
  `The prompt names ${what} ${JSON.stringify(name.slice(0, 80))}, which does not exist.${asText(written)}`;

const asText = (written: string) => ` Where it is only text, write \\${written.slice(0, 100)}.`;
