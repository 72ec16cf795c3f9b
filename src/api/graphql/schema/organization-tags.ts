import {
  addAllowedTags,
  removeAllowedTags,
  replaceAllowedTags,
  type TagRules,
} from '../../../domain/identity/organizations/allowed-tags.ts';
import { findOrganization } from '../../../domain/identity/organizations/use-organization.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { addMutation } from './add-mutation.ts';
import { boundary, needs } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';

const allowedTagsDescription = 'Tags that sessions of the organization may have, sorted. An empty list allows any tag.';
const defaultTagDescription =
  'Tag for sessions of the organization that are created without tags; null if there is none.';

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
      description:
        'All allowed tags after the change, sorted. An empty list allows any tag. Null if there are user errors.',
      resolve: ({ allowedTags }) => allowedTags && [...allowedTags],
    }),
    defaultTag: t.exposeString('defaultTag', {
      nullable: true,
      description:
        'Default tag of the organization after the change; null if there is none, or if there are user errors.',
    }),
    organization: t.expose('organization', {
      type: Organization,
      nullable: true,
      description: 'The changed organization; null if the viewer may not use it, or if there are user errors.',
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

const organizationIdDescription = 'Global ID or REST id of the organization (`org-…`).';
const tagLimits = 'each of 1 to 200 characters; an organization may allow at most 1,000';
addMutation('addAllowedTags', {
  input: tagsInput(
    'AddAllowedTagsInput',
    'Tags to add to the allowed tags of an organization.',
    `Tags to allow, ${tagLimits}.`,
  ),
  payload: changedType('AddAllowedTagsPayload', 'Result of adding allowed tags to an organization.'),
  needs: ['changeTags'],
  description:
    'Adds tags to those that sessions of an organization may have. Tags that are already allowed are not added again.',
  act: (input, context) => change(context, input, addAllowedTags),
});

addMutation('replaceAllowedTags', {
  input: tagsInput(
    'ReplaceAllowedTagsInput',
    'The new list of allowed tags of an organization.',
    `Tags to allow, ${tagLimits}. An empty list allows any tag.`,
  ),
  payload: changedType('ReplaceAllowedTagsPayload', 'Result of replacing the allowed tags of an organization.'),
  needs: ['changeTags'],
  description:
    'Replaces the tags that sessions of an organization may have. A default tag that is no longer allowed is cleared.',
  act: (input, context) => change(context, input, replaceAllowedTags),
});

addMutation('removeAllowedTags', {
  input: tagsInput(
    'RemoveAllowedTagsInput',
    'Tags to remove from the allowed tags of an organization.',
    'Tags to remove, each of 1 to 200 characters. Tags that are not in the list of allowed tags are ignored.',
  ),
  payload: changedType('RemoveAllowedTagsPayload', 'Result of removing allowed tags from an organization.'),
  needs: ['changeTags'],
  description:
    'Removes tags from those that sessions of an organization may have, and clears the default tag if it is removed. Existing sessions keep their tags. If no allowed tag is left, any tag is allowed.',
  act: (input, context) => change(context, input, removeAllowedTags),
});
