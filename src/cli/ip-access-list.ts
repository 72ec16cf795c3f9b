// npm run ip-access-list: shows and changes the IP access list on the host itself, for operators whose network is
// locked out.
import { enterprisePermissions } from '../auth/permissions.ts';
import { systemViewer } from '../auth/viewer.ts';
import { commandLine, commandPrefix } from '../common/command-line.ts';
import { readConfig } from '../config/config.ts';
import {
  addIpRanges,
  clearIpAccessList,
  getIpAccessList,
  type IpAccessListContext,
} from '../domain/identity/organizations/ip-access-list.ts';
import { findEnterpriseId } from '../domain/installation/bootstrap.ts';
import { createLocalNotifier } from '../realtime/local-notifier.ts';
import type { Store } from '../store/store.ts';
import { openForCommand } from './command-store.ts';

const prefix = commandPrefix('ip-access-list');

const usage = `Usage:
  ${commandLine('ip-access-list').padEnd(prefix.length)}               show the list
  ${prefix} add RANGE …   add addresses and CIDR ranges
  ${prefix} clear         empty it: every address is allowed`;

type Command = (context: IpAccessListContext) => Promise<readonly string[]>;

// Runs before the store is opened, so that a usage error is reported even if the store is locked.
function readCommand([command, ...ranges]: readonly string[]): Command {
  if (command === undefined) return getIpAccessList;
  if (command === 'clear' && ranges.length === 0) return clearIpAccessList;
  if (command === 'add' && ranges.length > 0) return (context) => addIpRanges(context, { ipRanges: ranges });
  throw new Error(usage);
}

async function asService(store: Store): Promise<IpAccessListContext> {
  const enterpriseId = await findEnterpriseId({ store });
  // Running processes read the list with every request, and the epoch tells them to recheck their streams. No
  // notification is needed.
  const notifier = createLocalNotifier(() => undefined);
  const viewer = systemViewer(enterpriseId, enterprisePermissions);
  return { store, notifier, now: () => new Date(), viewer, address: null };
}

async function run(args: readonly string[]): Promise<void> {
  if (args[0] === '--help' || args[0] === '-h') {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const runCommand = readCommand(args);
  const store = await openForCommand(readConfig());
  try {
    const ranges = await runCommand(await asService(store));
    process.stdout.write(
      ranges.length > 0 ? `${ranges.join('\n')}\n` : 'The list is empty: every address is allowed.\n',
    );
  } finally {
    await store.close();
  }
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
