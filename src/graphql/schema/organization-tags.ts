import { findOrganization } from '../../domain/organizations/use-organization.ts';
import {
  appendAllowedTags,
  removeAllowedTag,
  replaceAllowedTags,
  setDefaultTag,
  type TagRules,
} from '../../domain/sessions/allowed-tags.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { addMutation } from './add-mutation.ts';
import { Organization } from './organization-ref.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';

const allowedTagsDescription = 'The tags that its sessions may have, sorted; none: any.';
const defaultTagDescription = 'The tag that its sessions get when they are made without one; null: none.';

builder.objectFields(Organization, (t) => ({
  allowedTags: t.stringList({
    nullable: true,
    description: `${allowedTagsDescription} Needs MANAGE_ENTERPRISE_SETTINGS: an error beside null for who may not read them.`,
    resolve: async ({ id }, _args, { loaders }) => [...(await loaders.tagRules.load(id)).allowedTags],
  }),
  defaultTag: t.string({
    nullable: true,
    description: `${defaultTagDescription} Needs MANAGE_ENTERPRISE_SETTINGS.`,
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
      resolve: ({ allowedTags }) => (allowedTags === null ? null : [...allowedTags]),
    }),
    defaultTag: t.exposeString('defaultTag', { nullable: true, description: 'The default tag now; null: none.' }),
    organization: t.expose('organization', {
      type: Organization,
      nullable: true,
      description: 'The organization; null for who may not use it.',
    }),
  }));
}

async function changed(context: GraphqlContext, id: string, rules: Promise<TagRules>): Promise<Changed> {
  const { allowedTags, defaultTag } = await rules;
  return { allowedTags, defaultTag, organization: await findOrganization(context.domain, id) };
}

const organizationIdDescription = 'The organization: its global ID, or any form of its id.';
const mostTags = 'an organization may allow at most 1,000';

const AppendAllowedTagsInput = builder.inputType('AppendAllowedTagsInput', {
  description: 'Further tags that an organization’s sessions may have.',
  fields: (t) => ({
    organizationId: t.id({ required: true, description: organizationIdDescription }),
    tags: t.stringList({ required: true, description: `The tags: ${mostTags}.` }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const ReplaceAllowedTagsInput = builder.inputType('ReplaceAllowedTagsInput', {
  description: 'The tags that an organization’s sessions may have from now on.',
  fields: (t) => ({
    organizationId: t.id({ required: true, description: organizationIdDescription }),
    tags: t.stringList({ required: true, description: `The tags: ${mostTags}. None: any tag.` }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const RemoveAllowedTagInput = builder.inputType('RemoveAllowedTagInput', {
  description: 'A tag that new sessions of an organization may have no more.',
  fields: (t) => ({
    organizationId: t.id({ required: true, description: organizationIdDescription }),
    tag: t.string({ required: true, description: 'The tag. NOT_FOUND when it is none of the allowed.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const SetDefaultTagInput = builder.inputType('SetDefaultTagInput', {
  description: 'The tag that an organization’s sessions get when they are made without one.',
  fields: (t) => ({
    organizationId: t.id({ required: true, description: organizationIdDescription }),
    tag: t.string({ description: 'The tag, one of the allowed; none when left out or null.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const needs = 'Needs MANAGE_ENTERPRISE_SETTINGS.';

addMutation('appendAllowedTags', {
  input: AppendAllowedTagsInput,
  payload: changedType('AppendAllowedTagsPayload', 'The tags after some were added.'),
  description: `Allows an organization’s sessions further tags. ${needs}`,
  act: (input, context) => {
    const { organizationId, tags } = input;
    return changed(context, organizationId, appendAllowedTags(context.domain, organizationId, tags));
  },
});

addMutation('replaceAllowedTags', {
  input: ReplaceAllowedTagsInput,
  payload: changedType('ReplaceAllowedTagsPayload', 'The tags after they were replaced.'),
  description: `Sets the tags that an organization’s sessions may have. A default that is none of them goes. ${needs}`,
  act: (input, context) => {
    const { organizationId, tags } = input;
    return changed(context, organizationId, replaceAllowedTags(context.domain, organizationId, tags));
  },
});

addMutation('removeAllowedTag', {
  input: RemoveAllowedTagInput,
  payload: changedType('RemoveAllowedTagPayload', 'The tags after one was removed.'),
  description: `Takes a tag from the allowed, and from being the default. Sessions that have it keep it. ${needs}`,
  act: (input, context) => {
    const { organizationId, tag } = input;
    return changed(context, organizationId, removeAllowedTag(context.domain, organizationId, tag));
  },
});

addMutation('setDefaultTag', {
  input: SetDefaultTagInput,
  payload: changedType('SetDefaultTagPayload', 'The tags after the default was set.'),
  description: `Sets the default tag of an organization’s sessions, or takes it away. ${needs}`,
  act: (input, context) => {
    const { organizationId, tag } = input;
    return changed(context, organizationId, setDefaultTag(context.domain, organizationId, tag ?? null));
  },
});
