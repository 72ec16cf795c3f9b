import { requireConfirmation } from '../../../auth/confirmation.ts';
import { isAddressAllowed, readIpRange } from '../../../auth/ip-ranges.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { DomainError, type Issue, invalidInput, refuse } from '../../errors.ts';
import { announceKeyChange } from '../keys/key-changes.ts';

/** The most ranges of an enterprise. */
export const maxIpRanges = 1_000;

/** Addresses and CIDR ranges, and whether to lock out even the author. */
export interface IpAccessListInput {
  readonly ipRanges: readonly string[];
  readonly force?: boolean | undefined;
}

/** What the list is read and changed with: less than a whole context, since the host's own command has no more. */
export type IpAccessListContext = Pick<Context, 'store' | 'notifier' | 'now' | 'viewer' | 'address'>;

/** The ranges from which the service may be used, in the order in which they were given; none: from anywhere. FORBIDDEN. */
export async function getIpAccessList(context: IpAccessListContext): Promise<readonly string[]> {
  requireEnterprisePermission(context.viewer, permissionFor.viewIpAccessList);
  const [row] = await context.store.query<{ ranges: string[] }>(
    'select ip_ranges as ranges from enterprise where id = $1',
    [context.viewer.enterpriseId],
  );
  return row?.ranges ?? [];
}

/**
 * Adds ranges to the list and gives all of it. From the next request on it holds, and open streams from elsewhere end.
 * FORBIDDEN; INVALID_INPUT at `ipRanges`, `<n>`; LIMIT_EXCEEDED beyond {@link maxIpRanges}; INVALID_STATE when the author's
 * own address would be left out and `force` is not given.
 */
export async function addIpRanges(context: IpAccessListContext, input: IpAccessListInput): Promise<readonly string[]> {
  return changeList(context, input, (before, ranges) => [...before, ...ranges]);
}

/**
 * Removes ranges from the list; those that it does not have are ignored. INVALID_STATE where none would be left, since an
 * empty list allows every address: that must be asked for by {@link replaceIpRanges}. Otherwise as {@link addIpRanges}.
 */
export async function removeIpRanges(
  context: IpAccessListContext,
  input: IpAccessListInput,
): Promise<readonly string[]> {
  return changeList(context, input, (before, ranges) => {
    const gone = new Set(ranges.map(networkOfRange));
    const remaining = before.filter((range) => !gone.has(networkOfRange(range)));
    if (remaining.length > 0 || before.length === 0) return remaining;
    const message = '"ipRanges" must leave a range in the list, since an empty list allows every address.';
    throw refuse(['ipRanges'], `${message} Replace the list with an empty one to allow that.`, 'INVALID_STATE');
  });
}

/** Puts ranges in the place of the list; an empty one allows everybody. Otherwise as {@link addIpRanges}. */
export async function replaceIpRanges(
  context: IpAccessListContext,
  input: IpAccessListInput,
): Promise<readonly string[]> {
  return changeList(context, input, (_before, ranges) => ranges);
}

/** Empties the list: everybody is allowed. FORBIDDEN. */
export async function clearIpAccessList(context: IpAccessListContext): Promise<readonly string[]> {
  return changeList(context, { ipRanges: [] }, () => []);
}

async function changeList(
  context: IpAccessListContext,
  input: IpAccessListInput,
  combine: (before: readonly string[], ranges: readonly string[]) => readonly string[],
): Promise<readonly string[]> {
  const { viewer } = context;
  requireEnterprisePermission(viewer, permissionFor.changeIpAccessList);
  const ranges = readRanges(input.ipRanges);
  requireConfirmation(context);
  return context.store.transact(async (tx) => {
    const [row] = await tx.query<{ ranges: string[] }>(
      'select ip_ranges as ranges from enterprise where id = $1 for update',
      [viewer.enterpriseId],
    );
    const before = row?.ranges ?? [];
    const after = withoutDoubles(combine(before, ranges));
    if (after.length > maxIpRanges) {
      const message = `"ipRanges" would come to ${after.length} ranges, but the list has at most ${maxIpRanges}.`;
      throw refuse(['ipRanges'], message, 'LIMIT_EXCEEDED');
    }
    if (after.join() === before.join()) return before;
    if (input.force !== true) requireNotLockedOut(context, after);
    await writeRanges(context, tx, before, after);
    return after;
  });
}

function readRanges(texts: readonly string[]): string[] {
  if (texts.length > maxIpRanges) {
    const message = `"ipRanges" must have at most ${maxIpRanges} items, but has ${texts.length}.`;
    throw refuse(['ipRanges'], message, 'LIMIT_EXCEEDED');
  }
  const issues: Issue[] = [];
  const ranges = texts.flatMap((text, n) => {
    const range = readIpRange(text.trim());
    if (range) return [range.text];
    const shown = JSON.stringify(text.slice(0, 60));
    const message = `Each of "ipRanges" must be an IP address or a CIDR range such as 203.0.113.0/24, but item ${n} is ${shown}.`;
    issues.push({ path: ['ipRanges', String(n)], message });
    return [];
  });
  if (issues.length > 0) throw invalidInput(issues);
  return ranges;
}

function withoutDoubles(ranges: readonly string[]): string[] {
  const byNetwork = new Map<string, string>();
  for (const range of ranges) {
    const network = networkOfRange(range);
    if (!byNetwork.has(network)) byNetwork.set(network, range);
  }
  return [...byNetwork.values()];
}

// However a range is written, as with a host's bits set.
const networkOfRange = (range: string): string => readIpRange(range)?.network ?? range;

function requireNotLockedOut(context: IpAccessListContext, ranges: readonly string[]): void {
  const { viewer, address } = context;
  // The service itself comes from nowhere: on the host the list can always be changed.
  if (viewer.principal.type === 'SYSTEM' || isAddressAllowed(ranges, address)) return;
  const message = `This would lock you out: your own address, ${address ?? 'which is not known'}, is in none of these ranges.`;
  throw new DomainError('INVALID_STATE', `${message} Add it, or say "force" to do it all the same.`, [
    { path: ['ipRanges'], message: `${message} Add it, or say "force" to do it all the same.` },
  ]);
}

async function writeRanges(
  context: IpAccessListContext,
  tx: Transaction,
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  const { enterpriseId } = context.viewer;
  await tx.query('update enterprise set ip_ranges = $2::text[] where id = $1', [enterpriseId, [...after]]);
  const had = new Set(before);
  const has = new Set(after);
  await audit(context, tx, 'update_enterprise_settings', {
    organizationId: null,
    targetId: enterpriseId,
    data: {
      setting: 'ipAccessList',
      count: after.length,
      countBefore: before.length,
      added: summary(after.filter((range) => !had.has(range))),
      removed: summary(before.filter((range) => !has.has(range))),
    },
  });
  await announceKeyChange(context, tx);
}

/** The most ranges that an audit entry names. */
const maxNamed = 100;

function summary(ranges: readonly string[]): string {
  const more = ranges.length - maxNamed;
  return ranges.slice(0, maxNamed).join(' ') + (more > 0 ? ` and ${more} more` : '');
}
