import {
  addAllowedTags,
  removeAllowedTags,
  replaceAllowedTags,
} from '../../../domain/identity/organizations/allowed-tags.ts';
import { findOrganization } from '../../../domain/identity/organizations/use-organization.ts';
import { findTagsInUse, requireViewingTags } from '../../../domain/sessions/tags-in-use.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { boundary, needs } from './needs.ts';
import { Organization } from './organization-ref.ts';

const allowedTagsDescription = 'Tags that sessions of the organization may have, sorted. An empty list allows any tag.';
const defaultTagDescription =
  'Tag for sessions of the organization that are created without tags; null if there is none.';

builder.objectFields(Organization, (t) => ({
  allowedTags: t.stringList({
    ...boundary('changeTags'),
    description: allowedTagsDescription,
    resolve: async ({ id }, _args, { loaders }) => [...(await loaders.tagRules.load(id)).allowedTags],
  }),
  tagsInUse: t.stringList({
    ...boundary('viewSession', { items: 20 }),
    description:
      'Tags that sessions of the organization have, archived ones too, sorted. At most the first 1,000. For suggestions: `allowedTags` has the tags that new sessions may have.',
    resolve: async ({ id }, _args, { domain, loaders }) => {
      requireViewingTags(domain, id);
      return [...((await loaders.of(findTagsInUse).load(id)) ?? [])];
    },
  }),
  defaultTag: t.string({
    nullable: true,
    extensions: needs('changeTags'),
    description: defaultTagDescription,
    resolve: async ({ id }, _args, { loaders }) => (await loaders.tagRules.load(id)).defaultTag,
  }),
}));

const tagLimits = 'each of 1 to 200 characters; an organization may allow at most 1,000';

/** Adds a mutation that writes the allowed tags. */
function addTagsMutation(
  name: string,
  { description, tags }: { readonly description: string; readonly tags: string },
  write: typeof addAllowedTags,
): void {
  addMutation(name, {
    description,
    needs: ['changeTags'],
    input: (t) => ({
      organizationId: t.id({ required: true, description: 'Global ID or REST id of the organization (`org-…`).' }),
      tags: t.stringList({ required: true, description: tags }),
    }),
    payload: {
      allowedTags: {
        type: ['String'],
        description:
          'All allowed tags after the change, sorted. An empty list allows any tag. Null if there are user errors.',
      },
      defaultTag: {
        type: 'String',
        description:
          'Default tag of the organization after the change; null if there is none, or if there are user errors.',
      },
      organization: {
        type: Organization,
        description: 'The changed organization; null if the viewer may not use it, or if there are user errors.',
      },
    },
    act: async (input, { domain }) => {
      const { allowedTags, defaultTag } = await write(domain, input.organizationId, input.tags);
      return { allowedTags, defaultTag, organization: await findOrganization(domain, input.organizationId) };
    },
  });
}

addTagsMutation(
  'addAllowedTags',
  {
    description:
      'Adds tags to those that sessions of an organization may have. Tags that are already allowed are not added again.',
    tags: `Tags to allow, ${tagLimits}.`,
  },
  addAllowedTags,
);

addTagsMutation(
  'replaceAllowedTags',
  {
    description:
      'Replaces the tags that sessions of an organization may have. A default tag that is no longer allowed is cleared.',
    tags: `Tags to allow, ${tagLimits}. An empty list allows any tag.`,
  },
  replaceAllowedTags,
);

addTagsMutation(
  'removeAllowedTags',
  {
    description:
      'Removes tags from those that sessions of an organization may have, and clears the default tag if it is removed. Existing sessions keep their tags. If no allowed tag is left, any tag is allowed.',
    tags: 'Tags to remove, each of 1 to 200 characters. Tags that are not in the list of allowed tags are ignored.',
  },
  removeAllowedTags,
);
