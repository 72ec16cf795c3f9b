import { ownerOf } from '../../auth/viewer.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import type { OrganizationRecord } from '../identity/organizations/use-organization.ts';
import { newId } from '../ids.ts';
import { maxTitleLength } from '../input.ts';
import { writeSession } from '../sessions/create-session.ts';

/** A set-up of a repository to run without a user's session. Ids are unprefixed. */
export interface NewBuild {
  readonly repository: { readonly id: string; readonly host: string; readonly path: string };
  readonly trigger: 'PUSH' | 'REQUEST';
  /** The text to build instead of the definition that applies; null: that one. */
  readonly definition: string | null;
  /** Null: the organization's default. */
  readonly agent: string | null;
  /** The organization's secrets that the set-up may name; null: all. */
  readonly secretIds: readonly string[] | null;
  /** The directory of the clone; null: that of sessions. */
  readonly directory: string | null;
  /** The commit that is expected; empty: unknown. */
  readonly commit: string;
  /** See `environment_build.machine`; empty: unknown. */
  readonly machine: string;
  /** See `environment_build.used_at`. */
  readonly usedAt: Date;
}

const insert = `
  insert into environment_build (id, organization_id, repository_id, hash, machine, state, trigger, definition, session_id, commit, created_at, started_at, used_at)
  values ($1, $2, $3, 'request-' || $1, $10, 'QUEUED', $4, $5, $6, $7, $8::timestamptz, $8::timestamptz, $9::timestamptz)
  on conflict do nothing returning id`;

/**
 * Starts a set-up of a repository at its default branch: an unlisted session without an agent, which waits for a worker from the commit on.
 * Returns the unprefixed ids; null if one is queued or runs for the repository in this organization. Throws the errors of `createSession`.
 */
export async function startBuild(
  context: Context,
  tx: Transaction,
  organization: OrganizationRecord,
  { repository, trigger, definition, agent, secretIds, directory, commit, machine, usedAt }: NewBuild,
): Promise<{ readonly buildId: string; readonly sessionId: string } | null> {
  const [buildId, id] = [newId(), newId()];
  const now = context.now();
  const values = [buildId, organization.id, repository.id, trigger, definition, id, commit, now, usedAt, machine];
  if ((await tx.query(insert, values)).length === 0) return null;
  const name = `${repository.host}/${repository.path}`;
  await writeSession(context, tx, organization, {
    id,
    input: {
      prompt: '',
      title: `Set-up of ${name}`.slice(0, maxTitleLength),
      isUnlisted: true,
      agent,
      secretIds: secretIds === null ? null : [...secretIds],
      knowledgeIds: [],
      repositories: [{ repository: repository.id, directory }],
    },
    owner: ownerOf(context.viewer),
    origin: 'other',
    automationId: null,
    tokensIn: null,
    setUp: { repository: name, trigger, hasDefinition: definition !== null },
  });
  await tx.query('update session_repository set is_read_only = true where session_id = $1', [id]);
  return { buildId, sessionId: id };
}
