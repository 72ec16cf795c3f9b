// npm run ip-access-list: shows and changes the IP access list on the host itself, for whoever has locked the office out.
import { enterprisePermissions } from './auth/permissions.ts';
import { systemViewer } from './auth/viewer.ts';
import { readConfig } from './config.ts';
import { findEnterpriseId } from './domain/bootstrap.ts';
import {
  addIpRanges,
  clearIpAccessList,
  getIpAccessList,
  type IpAccessListContext,
} from './domain/organizations/ip-access-list.ts';
import { createLocalBell } from './events/local-bell.ts';
import { openStore, type Store } from './store/store.ts';

const usage = `Usage:
  npm run ip-access-list                  show the list
  npm run ip-access-list -- add RANGE …   add addresses and CIDR ranges
  npm run ip-access-list -- clear         empty it: every address is allowed`;

async function run(context: IpAccessListContext, [command, ...ranges]: readonly string[]): Promise<readonly string[]> {
  if (command === undefined) return getIpAccessList(context);
  if (command === 'clear' && ranges.length === 0) return clearIpAccessList(context);
  if (command === 'add' && ranges.length > 0) return addIpRanges(context, { ipRanges: ranges });
  throw new Error(usage);
}

async function asService(store: Store): Promise<IpAccessListContext> {
  const enterpriseId = await findEnterpriseId({ store });
  // Running processes read the list with every request, and see by the epoch that their streams need a look: no ring.
  const bell = createLocalBell(() => undefined);
  const viewer = systemViewer(enterpriseId, enterprisePermissions);
  return { store, bell, now: () => new Date(), viewer, address: null };
}

try {
  const config = readConfig();
  const say = (_fields: object, message: string) => process.stderr.write(`${message}\n`);
  const log = { warn: say, error: say };
  const store = await openStore({ dataDir: config.dataDir, databaseUrl: config.databaseUrl, log });
  try {
    const ranges = await run(await asService(store), process.argv.slice(2));
    process.stdout.write(
      ranges.length > 0 ? `${ranges.join('\n')}\n` : 'The list is empty: every address is allowed.\n',
    );
  } finally {
    await store.close();
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
