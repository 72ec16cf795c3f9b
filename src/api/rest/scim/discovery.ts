import { notFound } from '../../../common/errors.ts';
import type { Context } from '../../../domain/context.ts';
import type { RequestView } from '../../../http/request-view.ts';
import type { VersionApi } from '../version-api.ts';
import { scimAnswer } from './dialect.ts';
import { page, presentList } from './list-query.ts';
import { resourceTypes, schemas } from './schemas.ts';

const base = '/scim/v2';
const unsupported = { supported: false };

const serviceProviderConfig = ({ baseUrl }: Context) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { ...unsupported, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: page.max },
  changePassword: unsupported,
  sort: { supported: true },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'A token of a service user, in the header Authorization.',
      specUri: 'https://www.rfc-editor.org/info/rfc6750',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}${base}/ServiceProviderConfig` },
});

/** A list of descriptions, each with its own address. */
interface Described {
  readonly path: 'ResourceTypes' | 'Schemas';
  readonly kind: 'ResourceType' | 'Schema';
  readonly all: readonly { readonly id: string }[];
}

const described: readonly Described[] = [
  { path: 'ResourceTypes', kind: 'ResourceType', all: resourceTypes },
  { path: 'Schemas', kind: 'Schema', all: schemas },
];

/** `/scim/v2/ServiceProviderConfig`, `/ResourceTypes` and `/Schemas`: what the service supports, for every valid token. */
export function serveDiscovery(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [`${base}/ServiceProviderConfig`],
      name: 'getScimConfig',
      summary: 'Get what the service supports',
      refusals: [],
    },
    async ({ context, request }) => scimAnswer(request, serviceProviderConfig(context)),
  );
  for (const each of described) serveDescribed(api, each);
}

function serveDescribed(api: VersionApi, { path, kind, all }: Described): void {
  const present = ({ baseUrl }: Context, item: { readonly id: string }) => ({
    ...item,
    meta: { resourceType: kind, location: `${baseUrl}${base}/${path}/${item.id}` },
  });
  const answer = (request: RequestView, value: unknown) => scimAnswer(request, value);
  api.serve(
    { method: 'get', paths: [`${base}/${path}`], name: `listScim${path}`, summary: `List the ${path}`, refusals: [] },
    async ({ context, request }) => {
      const items = all.map((item) => present(context, item));
      return answer(request, presentList({ items, total: items.length, offset: 0 }));
    },
  );
  api.serve(
    {
      method: 'get',
      paths: [`${base}/${path}/{id}`],
      name: `getScim${kind}`,
      summary: `Get one of the ${path}`,
      refusals: [],
    },
    async ({ context, request, param }) => {
      const item = all.find(({ id }) => id === param('id'));
      if (item === undefined) throw notFound('resource');
      return answer(request, present(context, item));
    },
  );
}
