import type { Context } from '../../../domain/context.ts';
import { findEnterprises } from '../../../domain/identity/organizations/enterprises.ts';
import {
  addIpRanges,
  getIpAccessList,
  type IpAccessListInput,
  removeIpRanges,
  replaceIpRanges,
} from '../../../domain/identity/organizations/ip-access-list.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary } from './needs.ts';

builder.objectField(Enterprise, 'ipAccessList', (t) =>
  t.stringList({
    ...boundary('viewIpAccessList'),
    description: 'IP addresses and CIDR ranges from which API keys may be used. An empty list allows every address.',
    resolve: async (_enterprise, _args, { domain }) => [...(await getIpAccessList(domain))],
  }),
);

const rangesDescription =
  'IPv4 and IPv6 addresses and CIDR ranges, for example `203.0.113.0/24`. The list of the enterprise has at most 1,000.';
const forceDescription =
  'Whether to make the change even if it locks out the IP address of the caller. Defaults to false.';

/** Adds a mutation that writes the list. */
function addListMutation(
  name: string,
  description: string,
  write: (context: Context, input: IpAccessListInput) => Promise<readonly string[]>,
): void {
  addMutation(name, {
    description,
    needs: ['changeIpAccessList'],
    input: (t) => ({
      ipRanges: t.stringList({ required: true, description: rangesDescription }),
      force: t.boolean({ defaultValue: false, description: forceDescription }),
    }),
    payload: {
      ipRanges: { type: ['String'], description: 'Complete list after the change; null if there are user errors.' },
      enterprise: {
        type: Enterprise,
        description: 'The enterprise of the list; null if the viewer may not read it, or if there are user errors.',
      },
    },
    act: async ({ ipRanges, force }, { domain, loaders }) => ({
      ipRanges: await write(domain, { ipRanges, force: force ?? false }),
      enterprise: await loaders.of(findEnterprises).load(domain.viewer.enterpriseId),
    }),
  });
}

addListMutation(
  'addIpAccessListRanges',
  'Adds IP addresses and ranges to the list from which API keys may be used. The change takes effect with the next request. INVALID_STATE if it would lock out the caller and `force` is false.',
  addIpRanges,
);

addListMutation(
  'removeIpAccessListRanges',
  'Removes IP addresses and ranges from the list from which API keys may be used. Ranges that are not in the list are ignored. INVALID_STATE if none would be left. The change takes effect with the next request.',
  removeIpRanges,
);

addListMutation(
  'replaceIpAccessListRanges',
  'Replaces the list of IP addresses and ranges from which API keys may be used. An empty list allows every address. The change takes effect with the next request.',
  replaceIpRanges,
);
