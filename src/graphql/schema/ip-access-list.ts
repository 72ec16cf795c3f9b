import type { EnterpriseRecord } from '../../domain/organizations/enterprises.ts';
import {
  addIpRanges,
  clearIpAccessList,
  getIpAccessList,
  replaceIpRanges,
} from '../../domain/organizations/ip-access-list.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { addMutation } from './add-mutation.ts';
import { Enterprise } from './enterprise-ref.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';

builder.objectField(Enterprise, 'ipAccessList', (t) =>
  t.stringList({
    nullable: true,
    description:
      'The addresses and CIDR ranges from which keys may be used; empty: any. An error beside null for who may not read it.',
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
      resolve: ({ ipRanges }) => (ipRanges === null ? null : [...ipRanges]),
    }),
    enterprise: t.expose('enterprise', {
      type: Enterprise,
      nullable: true,
      description: 'The enterprise; null for who may not read it.',
    }),
  }));
}

async function changed({ domain, loaders }: GraphqlContext, ranges: Promise<readonly string[]>): Promise<Changed> {
  const ipRanges = await ranges;
  return { ipRanges, enterprise: await loaders.enterprises.load(domain.viewer.enterpriseId) };
}

const AddToIpAccessListInput = builder.inputType('AddToIpAccessListInput', {
  description: 'From where the service may be used, beside what the list has.',
  fields: (t) => ({
    ipRanges: t.stringList({ required: true, description: rangesDescription }),
    force: t.boolean({ defaultValue: false, description: forceDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const ReplaceIpAccessListInput = builder.inputType('ReplaceIpAccessListInput', {
  description: 'From where the service may be used, and from nowhere else; an empty list allows every address.',
  fields: (t) => ({
    ipRanges: t.stringList({ required: true, description: rangesDescription }),
    force: t.boolean({ defaultValue: false, description: forceDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const ClearIpAccessListInput = builder.inputType('ClearIpAccessListInput', {
  description: 'Nothing but what every input has.',
  fields: (t) => ({ clientMutationId: t.string({ description: clientMutationIdDescription }) }),
});

addMutation('addToIpAccessList', {
  input: AddToIpAccessListInput,
  payload: changedType('AddToIpAccessListPayload', 'The list after ranges were added.'),
  description: 'Adds to the addresses from which keys may be used. Holds from the next request on.',
  act: (input, context) =>
    changed(context, addIpRanges(context.domain, { ipRanges: input.ipRanges, force: input.force ?? false })),
});

addMutation('replaceIpAccessList', {
  input: ReplaceIpAccessListInput,
  payload: changedType('ReplaceIpAccessListPayload', 'The list after it was replaced.'),
  description: 'Replaces the addresses from which keys may be used. Holds from the next request on.',
  act: (input, context) =>
    changed(context, replaceIpRanges(context.domain, { ipRanges: input.ipRanges, force: input.force ?? false })),
});

addMutation('clearIpAccessList', {
  input: ClearIpAccessListInput,
  payload: changedType('ClearIpAccessListPayload', 'The list after it was emptied.'),
  description: 'Empties the list: keys may be used from every address.',
  act: (_input, context) => changed(context, clearIpAccessList(context.domain)),
});
