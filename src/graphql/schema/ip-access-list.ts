import type { Context } from '../../domain/context.ts';
import type { EnterpriseRecord } from '../../domain/organizations/enterprises.ts';
import {
  addIpRanges,
  getIpAccessList,
  type IpAccessListInput,
  removeIpRanges,
  replaceIpRanges,
} from '../../domain/organizations/ip-access-list.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { addMutation } from './add-mutation.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary } from './needs.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';

builder.objectField(Enterprise, 'ipAccessList', (t) =>
  t.stringList({
    ...boundary('viewIpAccessList'),
    description: 'The addresses and CIDR ranges from which keys may be used; empty: any.',
    resolve: async (_enterprise, _args, { domain }) => [...(await getIpAccessList(domain))],
  }),
);

interface Changed {
  readonly ipRanges: readonly string[];
  readonly enterprise: EnterpriseRecord | null;
}

const rangesDescription = 'IP addresses and CIDR ranges, of version 4 or 6; together at most 1,000.';
const forceDescription = 'Do it even if the caller’s own address would be locked out.';

function changedType(name: string, description: string) {
  return payloadType<Changed>(name, description, (t) => ({
    ipRanges: t.stringList({
      nullable: true,
      description: 'The whole list as it is now.',
      resolve: ({ ipRanges }) => ipRanges && [...ipRanges],
    }),
    enterprise: t.expose('enterprise', {
      type: Enterprise,
      nullable: true,
      description: 'The enterprise; null for who may not read it.',
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
  given: { readonly ipRanges: readonly string[]; readonly force?: boolean | null | undefined },
  write: (context: Context, input: IpAccessListInput) => Promise<readonly string[]>,
): Promise<Changed> {
  const ipRanges = await write(domain, { ipRanges: given.ipRanges, force: given.force ?? false });
  return { ipRanges, enterprise: await loaders.enterprises.load(domain.viewer.enterpriseId) };
}

addMutation('addIpAccessListRanges', {
  input: rangesInput('AddIpAccessListRangesInput', 'Addresses to add to those from which keys may be used.'),
  payload: changedType('AddIpAccessListRangesPayload', 'The list after ranges were added.'),
  needs: ['changeIpAccessList'],
  description: 'Adds addresses to those from which keys may be used. It holds from the next request on.',
  act: (input, context) => change(context, input, addIpRanges),
});

addMutation('removeIpAccessListRanges', {
  input: rangesInput('RemoveIpAccessListRangesInput', 'Addresses to remove from those from which keys may be used.'),
  payload: changedType('RemoveIpAccessListRangesPayload', 'The list after ranges were removed.'),
  needs: ['changeIpAccessList'],
  description:
    'Removes addresses from those from which keys may be used; those that are not in the list are ignored. INVALID_STATE where none would be left. It holds from the next request on.',
  act: (input, context) => change(context, input, removeIpRanges),
});

addMutation('replaceIpAccessListRanges', {
  input: rangesInput(
    'ReplaceIpAccessListRangesInput',
    'The addresses from which keys may be used from now on; an empty list allows every address.',
  ),
  payload: changedType('ReplaceIpAccessListRangesPayload', 'The list after it was replaced.'),
  needs: ['changeIpAccessList'],
  description:
    'Replaces the addresses from which keys may be used; an empty list allows every address. It holds from the next request on.',
  act: (input, context) => change(context, input, replaceIpRanges),
});
