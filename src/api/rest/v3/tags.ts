import { z } from '@hono/zod-openapi';
import type { Context } from '../../../domain/context.ts';
import {
  addAllowedTags,
  getTagRules,
  removeAllowedTag,
  replaceAllowedTags,
  setDefaultTag,
  type TagRules,
} from '../../../domain/identity/organizations/allowed-tags.ts';
import { getSession } from '../../../domain/sessions/find-session.ts';
import { addTags, replaceTags } from '../../../domain/sessions/tags.ts';
import type { VersionApi } from '../version-api.ts';
import { type SessionScope, sessionScopes } from './session-scopes.ts';

const tagsRequest = z.object({ tags: z.array(z.string()) }).openapi('TagsCreateRequest');
const sessionTagsRequest = z
  .object({ tags: z.array(z.string()).openapi({ maxItems: 50 }) })
  .openapi('SessionTagsRequest');
const tagsResponse = z.object({ tags: z.array(z.string()) }).openapi('TagsResponse');
const defaultTagRequest = z.object({ tag: z.string() }).openapi('DefaultTagRequest');
const defaultTagResponse = z.object({ default_tag: z.string().nullable() }).openapi('DefaultTagResponse');

/** `…/sessions/{devin_id}/tags`. */
export function serveSessionTags(api: VersionApi): void {
  for (const scope of sessionScopes) serveTagsOfOne(api, scope);
}

function serveTagsOfOne(api: VersionApi, { one, word, of, query, enter }: SessionScope): void {
  api.serve(
    {
      method: 'get',
      paths: [`${one}/tags`],
      name: `list${word}SessionTags`,
      summary: `Read the tags of a session ${of}`,
      query: z.object(query),
      answer: tagsResponse,
      refusals: [403, 404],
    },
    async (call) => {
      const { context, target } = await enter(call, 'view');
      const { tags } = await getSession(context, target.sessionId, target.organizationId);
      return { tags: [...tags] };
    },
  );

  const changes = [
    { method: 'post', verb: 'append', change: addTags, summary: `Add to the tags of a session ${of}` },
    { method: 'put', verb: 'replace', change: replaceTags, summary: `Set the tags of a session ${of}` },
  ] as const;
  for (const { method, verb, change, summary } of changes) {
    api.serve(
      {
        method,
        paths: [`${one}/tags`],
        name: `${verb}${word}SessionTags`,
        summary,
        query: z.object(query),
        body: sessionTagsRequest,
        answer: tagsResponse,
        refusals: [400, 403, 404, 413, 422],
      },
      async (call) => {
        const { context, target } = await enter(call, 'manage');
        const { tags } = await change(context, { ...target, tags: call.body.tags });
        return { tags: [...tags] };
      },
    );
  }
}

const organizationTags = '/v3/enterprise/organizations/{org_id}/tags';

/**
 * `/v3/enterprise/organizations/{org_id}/tags`: the tags that the organization's sessions may have, and the default
 * tag.
 */
export function serveOrganizationTags(api: VersionApi): void {
  serveDefaultTag(api);

  const presentTags = ({ allowedTags }: TagRules) => ({ tags: [...allowedTags] });
  const changes = [
    { method: 'post', name: 'appendAllowedTags', change: addAllowedTags, summary: 'Allow further tags' },
    { method: 'put', name: 'replaceAllowedTags', change: replaceAllowedTags, summary: 'Set the allowed tags' },
  ] as const;

  api.serve(
    {
      method: 'get',
      paths: [organizationTags],
      name: 'listAllowedTags',
      summary: 'Read the tags that an organization’s sessions may have; none: any',
      answer: tagsResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => presentTags(await getTagRules(context, param('org_id'))),
  );

  for (const { method, name, change, summary } of changes) {
    api.serve(
      {
        method,
        paths: [organizationTags],
        name,
        summary: `${summary} of an organization’s sessions`,
        body: tagsRequest,
        answer: tagsResponse,
        refusals: [400, 403, 404, 413, 422],
      },
      async ({ context, body, param }) => presentTags(await change(context, param('org_id'), body.tags)),
    );
  }

  api.serve(
    {
      method: 'delete',
      paths: [organizationTags],
      name: 'clearAllowedTags',
      summary: 'Allow an organization’s sessions any tag, and take their default away',
      answer: tagsResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => presentTags(await replaceAllowedTags(context, param('org_id'), [])),
  );

  api.serve(
    {
      method: 'delete',
      paths: [`${organizationTags}/{tag}`],
      name: 'removeAllowedTag',
      summary: 'Allow a tag no more',
      answer: tagsResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => presentTags(await removeAllowedTag(context, param('org_id'), param('tag'))),
  );
}

// Must be served before the routes of single tags. A tag named "default" can only be changed by setting the whole list.
function serveDefaultTag(api: VersionApi): void {
  const paths = [`${organizationTags}/default`] as const;
  const set = async (context: Context, organizationId: string, tag: string | null) => ({
    default_tag: (await setDefaultTag(context, organizationId, tag)).defaultTag,
  });

  api.serve(
    {
      method: 'get',
      paths,
      name: 'getDefaultTag',
      summary: 'Read the tag that an organization’s sessions get when they are made without one',
      answer: defaultTagResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => ({ default_tag: (await getTagRules(context, param('org_id'))).defaultTag }),
  );

  api.serve(
    {
      method: 'put',
      paths,
      name: 'setDefaultTag',
      summary: 'Set the default tag; it must be an allowed one',
      body: defaultTagRequest,
      answer: defaultTagResponse,
      refusals: [400, 403, 404, 413, 422],
    },
    async ({ context, body, param }) => set(context, param('org_id'), body.tag),
  );

  api.serve(
    {
      method: 'delete',
      paths,
      name: 'clearDefaultTag',
      summary: 'Take the default tag away',
      answer: defaultTagResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => set(context, param('org_id'), null),
  );
}
