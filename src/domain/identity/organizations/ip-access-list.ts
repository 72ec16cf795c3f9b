import { requireConfirmation } from '../../../auth/confirmation.ts';
import { isAddressAllowed, readIpRange } from '../../../auth/ip-ranges.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { DomainError, type Issue, invalidInput, refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { announceKeyChange } from '../keys/key-changes.ts';

/** Maximum number of ranges of an enterprise. */
export const maxIpRanges = 1_000;

/** Addresses and CIDR ranges, and whether the change may lock out its author. */
export interface IpAccessListInput {
  readonly ipRanges: readonly string[];
  readonly force?: boolean | undefined;
}

/** The services for reading and changing the list: less than a whole context, since the command line has no more. */
export type IpAccessListContext = Pick<Context, 'store' | 'notifier' | 'now' | 'viewer' | 'address'>;

/**
 * Returns the ranges from which the service may be used, in the order of the input; none: from every address. Throws
 * FORBIDDEN.
 */
export async function getIpAccessList(context: IpAccessListContext): Promise<readonly string[]> {
  requireEnterprisePermission(context.viewer, permissionFor.viewIpAccessList);
  const { ipRanges } = await context.store.prisma.enterprise.findFirstOrThrow({
    where: { id: context.viewer.enterpriseId },
    select: { ipRanges: true },
  });
  return ipRanges;
}

/**
 * Adds ranges to the list and returns the whole list. It applies from the next request on, and open streams from other
 * addresses end. Throws FORBIDDEN; INVALID_INPUT at `ipRanges`, `<n>`; LIMIT_EXCEEDED beyond {@link maxIpRanges};
 * INVALID_STATE if the list would exclude the author's own address and `force` is not set.
 */
export async function addIpRanges(context: IpAccessListContext, input: IpAccessListInput): Promise<readonly string[]> {
  return changeList(context, input, (before, ranges) => [...before, ...ranges]);
}

/**
 * Removes ranges from the list, and ignores those that it does not have. Throws INVALID_STATE if none would be left,
 * since an empty list allows every address: that needs {@link replaceIpRanges}. Otherwise as {@link addIpRanges}.
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

/** Replaces the list; an empty list allows every address. Otherwise as {@link addIpRanges}. */
export async function replaceIpRanges(
  context: IpAccessListContext,
  input: IpAccessListInput,
): Promise<readonly string[]> {
  return changeList(context, input, (_before, ranges) => ranges);
}

/** Empties the list, which allows every address. Throws FORBIDDEN. */
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

// Equal for all notations of a range, for example with host bits set.
const networkOfRange = (range: string): string => readIpRange(range)?.network ?? range;

function requireNotLockedOut(context: IpAccessListContext, ranges: readonly string[]): void {
  const { viewer, address } = context;
  // The service itself has no address: on the host, the list can always be changed.
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
  const data = { ipRanges: [...after] };
  await tx.prisma.enterprise.update({ where: { id: enterpriseId }, data, select: { id: true } });
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

/** Maximum number of ranges in an audit entry. */
const maxNamed = 100;

function summary(ranges: readonly string[]): string {
  const more = ranges.length - maxNamed;
  return ranges.slice(0, maxNamed).join(' ') + (more > 0 ? ` and ${more} more` : '');
}
