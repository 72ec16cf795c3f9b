import { findOrganization } from '../../domain/organizations/use-organization.ts';
import {
  addAllowedTags,
  removeAllowedTags,
  replaceAllowedTags,
  type TagRules,
} from '../../domain/sessions/allowed-tags.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { addMutation } from './add-mutation.ts';
import { boundary, needs } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';

const allowedTagsDescription = 'The tags that its sessions may have, sorted; none: any.';
const defaultTagDescription = 'The tag that its sessions get when they are made without one; null: none.';

builder.objectFields(Organization, (t) => ({
  allowedTags: t.stringList({
    ...boundary('changeTags'),
    description: allowedTagsDescription,
    resolve: async ({ id }, _args, { loaders }) => [...(await loaders.tagRules.load(id)).allowedTags],
  }),
  defaultTag: t.string({
    nullable: true,
    extensions: needs('changeTags'),
    description: defaultTagDescription,
    resolve: async ({ id }, _args, { loaders }) => (await loaders.tagRules.load(id)).defaultTag,
  }),
}));

interface Changed extends TagRules {
  readonly organization: Awaited<ReturnType<typeof findOrganization>>;
}

function changedType(name: string, description: string) {
  return payloadType<Changed>(name, description, (t) => ({
    allowedTags: t.stringList({
      nullable: true,
      description: 'All tags that the organization’s sessions may have now; none: any.',
      resolve: ({ allowedTags }) => allowedTags && [...allowedTags],
    }),
    defaultTag: t.exposeString('defaultTag', { nullable: true, description: 'The default tag now; null: none.' }),
    organization: t.expose('organization', {
      type: Organization,
      nullable: true,
      description: 'The organization; null for who may not use it.',
    }),
  }));
}

const tagsInput = (name: string, description: string, tags: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({
      organizationId: t.id({ required: true, description: organizationIdDescription }),
      tags: t.stringList({ required: true, description: tags }),
      clientMutationId: t.string({ description: clientMutationIdDescription }),
    }),
  });

async function change(
  { domain }: GraphqlContext,
  { organizationId, tags }: { readonly organizationId: string; readonly tags: readonly string[] },
  write: typeof addAllowedTags,
): Promise<Changed> {
  const { allowedTags, defaultTag } = await write(domain, organizationId, tags);
  return { allowedTags, defaultTag, organization: await findOrganization(domain, organizationId) };
}

const organizationIdDescription = 'The organization: its global ID, or any form of its id.';
const mostTags = 'each of 1 to 200 characters; an organization may allow at most 1,000';
addMutation('addAllowedTags', {
  input: tagsInput(
    'AddAllowedTagsInput',
    'Further tags that the sessions of an organization may have.',
    `The tags to allow, ${mostTags}.`,
  ),
  payload: changedType('AddAllowedTagsPayload', 'The allowed tags after some were added.'),
  needs: ['changeTags'],
  description: 'Allows the sessions of an organization further tags.',
  act: (input, context) => change(context, input, addAllowedTags),
});

addMutation('replaceAllowedTags', {
  input: tagsInput(
    'ReplaceAllowedTagsInput',
    'The tags that the sessions of an organization may have from now on.',
    `The tags to allow, ${mostTags}. An empty list allows any tag.`,
  ),
  payload: changedType('ReplaceAllowedTagsPayload', 'The allowed tags after they were replaced.'),
  needs: ['changeTags'],
  description:
    'Replaces the tags that the sessions of an organization may have. A default tag that is none of them is cleared.',
  act: (input, context) => change(context, input, replaceAllowedTags),
});

addMutation('removeAllowedTags', {
  input: tagsInput(
    'RemoveAllowedTagsInput',
    'Tags that new sessions of an organization may no longer have.',
    'The tags to remove, each of 1 to 200 characters; those that are not allowed are ignored.',
  ),
  payload: changedType('RemoveAllowedTagsPayload', 'The allowed tags after some were removed.'),
  needs: ['changeTags'],
  description:
    'Removes tags from those that the sessions of an organization may have, and the default tag if it is one of them. Sessions that have such a tag keep it. Where none is left, any tag is allowed.',
  act: (input, context) => change(context, input, removeAllowedTags),
});
