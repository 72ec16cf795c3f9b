import { DomainError, refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { auditAll } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { parseId, prefixedId } from '../../ids.ts';
import { maxGroupMembers, type ProvisionedGroup } from './list-provisioned-groups.ts';

/** The maximum number of members that a request adds and removes. */
const maxChanged = 5_000;

/** Changes of the members of a group, by ids of users in any form, in the order of the request: a later one replaces an earlier one. */
export class MemberChange {
  /** True: members that are not added leave. */
  isReplacement = false;
  readonly #added = new Set<string>();
  readonly #removed = new Set<string>();

  /** Adds members. */
  add(ids: readonly string[]): void {
    for (const id of ids) {
      this.#removed.delete(id);
      this.#added.add(id);
    }
  }

  /** Removes members. */
  remove(ids: readonly string[]): void {
    for (const id of ids) {
      this.#added.delete(id);
      this.#removed.add(id);
    }
  }

  /** Makes these users the only members. */
  replace(ids: readonly string[]): void {
    this.isReplacement = true;
    this.#added.clear();
    this.#removed.clear();
    this.add(ids);
  }

  /** Tells if nothing changes. */
  get isEmpty(): boolean {
    return !this.isReplacement && this.#added.size === 0 && this.#removed.size === 0;
  }

  /** Returns the ids that are added and removed. Throws LIMIT_EXCEEDED at `members`. */
  read(): { readonly added: readonly string[]; readonly removed: readonly string[] } {
    if (this.#added.size + this.#removed.size > maxChanged) {
      throw refuse(['members'], `A request can change at most ${maxChanged} members of a group.`, 'LIMIT_EXCEEDED');
    }
    return { added: [...this.#added], removed: [...this.#removed] };
  }
}

/**
 * Changes the members of a group that is locked, as a part of a larger act, which has checked the permissions. Returns whether any
 * changed. Throws UNKNOWN_REFERENCE at `members`, LIMIT_EXCEEDED.
 */
export async function changeMembers(
  context: Context,
  tx: Transaction,
  group: ProvisionedGroup,
  change: MemberChange,
): Promise<boolean> {
  const { added, removed } = change.read();
  const addedIds = await lockUsers(context, tx, added);
  const removedIds = removed.flatMap((id) => parseId('user', id) ?? []);
  const left = await tx.query<{ userId: string }>(
    `delete from idp_group_member m where m.group_id = $1
        and (m.user_id = any($2::text[]) or ($3::boolean and not m.user_id = any($4::text[]))) returning m.user_id as "userId"`,
    [group.id, removedIds, change.isReplacement, addedIds],
  );
  const joined = await tx.query<{ userId: string }>(
    `insert into idp_group_member (group_id, user_id, enterprise_id, created_at)
     select $1, id, $2, $4::timestamptz from unnest($3::text[]) input(id) on conflict do nothing returning user_id as "userId"`,
    [group.id, context.viewer.enterpriseId, addedIds, context.now()],
  );
  if (joined.length > 0) await requireRoom(tx, group);
  const targets = (rows: readonly { userId: string }[]) =>
    rows.map(({ userId }) => ({ targetId: userId, data: { name: group.name } }));
  await auditAll(context, tx, 'remove_members_from_idp_group', null, targets(left));
  await auditAll(context, tx, 'add_members_to_idp_group', null, targets(joined));
  return left.length + joined.length > 0;
}

// The users stay until the transaction ends, so that none is deleted meanwhile and remains a member.
async function lockUsers({ viewer }: Context, tx: Transaction, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const wanted = ids.map((id) => parseId('user', id));
  const rows = await tx.query<{ id: string }>(
    `select u.id from user_account u
      where u.id = any($1::text[]) and u.enterprise_id = $2 and u.deleted_at is null order by u.id for share`,
    [wanted.filter((id) => id !== null), viewer.enterpriseId],
  );
  const found = new Set(rows.map(({ id }) => id));
  const missing = ids.find((_, n) => !found.has(wanted[n] ?? ''));
  if (missing === undefined) return [...found];
  const message = `There is no user ${JSON.stringify(missing.slice(0, 60).toWellFormed())}, so it cannot be a member. Ids of users begin with "${prefixedId('user', '')}".`;
  throw refuse(['members'], message, 'UNKNOWN_REFERENCE');
}

async function requireRoom(tx: Transaction, { id }: ProvisionedGroup): Promise<void> {
  const [counted] = await tx.query<{ n: number }>(
    'select count(*)::int as n from idp_group_member m where m.group_id = $1',
    [id],
  );
  if ((counted?.n ?? 0) <= maxGroupMembers) return;
  throw new DomainError('LIMIT_EXCEEDED', `A group can have ${maxGroupMembers} members from a directory.`);
}
