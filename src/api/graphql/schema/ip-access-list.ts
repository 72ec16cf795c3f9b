import type { Context } from '../../../domain/context.ts';
import type { EnterpriseRecord } from '../../../domain/identity/organizations/enterprises.ts';
import {
  addIpRanges,
  getIpAccessList,
  type IpAccessListInput,
  removeIpRanges,
  replaceIpRanges,
} from '../../../domain/identity/organizations/ip-access-list.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { addMutation } from './add-mutation.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary } from './needs.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';

builder.objectField(Enterprise, 'ipAccessList', (t) =>
  t.stringList({
    ...boundary('viewIpAccessList'),
    description: 'IP addresses and CIDR ranges from which API keys may be used. An empty list allows every address.',
    resolve: async (_enterprise, _args, { domain }) => [...(await getIpAccessList(domain))],
  }),
);

interface Changed {
  readonly ipRanges: readonly string[];
  readonly enterprise: EnterpriseRecord | null;
}

const rangesDescription =
  'IPv4 and IPv6 addresses and CIDR ranges, for example `203.0.113.0/24`. The list of the enterprise has at most 1,000.';
const forceDescription =
  'Whether to make the change even if it locks out the IP address of the caller. Defaults to false.';

function changedType(name: string, description: string) {
  return payloadType<Changed>(name, description, (t) => ({
    ipRanges: t.stringList({
      nullable: true,
      description: 'Complete list after the change; null if there are user errors.',
      resolve: ({ ipRanges }) => ipRanges && [...ipRanges],
    }),
    enterprise: t.expose('enterprise', {
      type: Enterprise,
      nullable: true,
      description: 'The enterprise of the list; null if the viewer may not read it, or if there are user errors.',
    }),
  }));
}

const rangesInput = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({
      ipRanges: t.stringList({ required: true, description: rangesDescription }),
      force: t.boolean({ defaultValue: false, description: forceDescription }),
      clientMutationId: t.string({ description: clientMutationIdDescription }),
    }),
  });

async function change(
  { domain, loaders }: GraphqlContext,
  input: { readonly ipRanges: readonly string[]; readonly force?: boolean | null | undefined },
  write: (context: Context, input: IpAccessListInput) => Promise<readonly string[]>,
): Promise<Changed> {
  const ipRanges = await write(domain, { ipRanges: input.ipRanges, force: input.force ?? false });
  return { ipRanges, enterprise: await loaders.enterprises.load(domain.viewer.enterpriseId) };
}

addMutation('addIpAccessListRanges', {
  input: rangesInput(
    'AddIpAccessListRangesInput',
    'IP addresses and ranges to add to the list from which API keys may be used.',
  ),
  payload: changedType('AddIpAccessListRangesPayload', 'Result of adding ranges to the IP access list.'),
  needs: ['changeIpAccessList'],
  description:
    'Adds IP addresses and ranges to the list from which API keys may be used. The change takes effect with the next request. INVALID_STATE if it would lock out the caller and `force` is false.',
  act: (input, context) => change(context, input, addIpRanges),
});

addMutation('removeIpAccessListRanges', {
  input: rangesInput(
    'RemoveIpAccessListRangesInput',
    'IP addresses and ranges to remove from the list from which API keys may be used.',
  ),
  payload: changedType('RemoveIpAccessListRangesPayload', 'Result of removing ranges from the IP access list.'),
  needs: ['changeIpAccessList'],
  description:
    'Removes IP addresses and ranges from the list from which API keys may be used. Ranges that are not in the list are ignored. INVALID_STATE if none would be left. The change takes effect with the next request.',
  act: (input, context) => change(context, input, removeIpRanges),
});

addMutation('replaceIpAccessListRanges', {
  input: rangesInput(
    'ReplaceIpAccessListRangesInput',
    'The new list of IP addresses and ranges from which API keys may be used. An empty list allows every address.',
  ),
  payload: changedType('ReplaceIpAccessListRangesPayload', 'Result of replacing the IP access list.'),
  needs: ['changeIpAccessList'],
  description:
    'Replaces the list of IP addresses and ranges from which API keys may be used. An empty list allows every address. The change takes effect with the next request.',
  act: (input, context) => change(context, input, replaceIpRanges),
});
