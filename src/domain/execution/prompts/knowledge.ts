import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import type { SessionFacts } from './session-facts.ts';

/** A note that a session's agent may know, without its text. */
export interface SessionNote {
  readonly id: string;
  readonly name: string;
  /** The description of when the agent should read it. */
  readonly trigger: string;
  /** Null: not pinned; `all`, or `owner/repo`. */
  readonly pinnedRepo: string | null;
  /** In bytes. */
  readonly size: number;
}

/** Maximum number of notes of one session: those pinned to its repositories first, then other pinned ones, then the newest. */
const maxNotes = 1_000;

// The notes of an organization and those of its enterprise, if the session selects them and they are enabled.
const usable = `n.enterprise_id = $1 and (n.organization_id is null or n.organization_id = $2) and n.is_enabled
  and ($3::text[] is null or n.id = any($3::text[]))`;

const valuesOf = ({ enterpriseId, organizationId, knowledgeIds }: SessionFacts) => [
  enterpriseId,
  organizationId,
  knowledgeIds,
];

/** The enabled notes that a session's agent may know: all of them if its list of ids is null, none if it is empty. */
export async function listSessionNotes(context: Pick<Context, 'store'>, facts: SessionFacts): Promise<SessionNote[]> {
  if (facts.knowledgeIds?.length === 0) return [];
  return context.store.query<SessionNote>(
    `select n.id, n.name, n.trigger, n.pinned_repo as "pinnedRepo", octet_length(n.body) as size from knowledge_note n
      where ${usable} order by lower(n.pinned_repo) = any($4::text[]) desc nulls last, n.created_at desc, n.id limit ${maxNotes}`,
    [...valuesOf(facts), [...facts.repositoryNames]],
  );
}

/** Returns the texts of a session's notes, by their unprefixed ids, without those that it may not read. */
export async function readNoteBodies(
  context: Pick<Context, 'store'>,
  facts: SessionFacts,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await context.store.query<{ id: string; body: string }>(
    `select n.id, n.body from knowledge_note n where ${usable} and n.id = any($4::text[])`,
    [...valuesOf(facts), ids],
  );
  return new Map(rows.map(({ id, body }) => [id, body]));
}

/**
 * Returns a note with its text, for an agent that asks for it by its id in any form or by its name; null unless the
 * agent may read it.
 */
export async function findSessionNote(
  context: Pick<Context, 'store'>,
  facts: SessionFacts,
  reference: string,
): Promise<(SessionNote & { readonly body: string }) | null> {
  const [note] = await context.store.query<SessionNote & { body: string }>(
    `select n.id, n.name, n.trigger, n.pinned_repo as "pinnedRepo", octet_length(n.body) as size, n.body
       from knowledge_note n where ${usable} and (n.id = $4 or lower(n.name) = lower($5::text))
      order by n.id <> $4, n.organization_id is null, n.created_at desc, n.id limit 1`,
    [...valuesOf(facts), parseId('note', reference) ?? '', reference.trim()],
  );
  return note ?? null;
}
