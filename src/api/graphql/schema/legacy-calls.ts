import { findApiKeys } from '../../../domain/identity/keys/key-record.ts';
import { prefixedId } from '../../../domain/ids.ts';
import {
  type LegacyCallRecord,
  legacyCallsOf,
  listLegacyCalls,
} from '../../../domain/usage/legacy-calls/list-legacy-calls.ts';
import { builder } from '../builder.ts';
import { countable } from '../connections.ts';
import { pageLimits } from '../loaders.ts';
import { listTypes } from './add-list.ts';
import { ApiKey } from './api-keys.ts';
import { defineEnum } from './define-enum.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';

const RestVersionEnum = defineEnum('RestVersion', 'A version of the REST API.', {
  v1: 'Version 1 of the REST API, with paths under `/v1`.',
  v2: 'Version 2 of the REST API, with paths under `/v2`.',
  v3: 'Version 3 of the REST API, with paths under `/v3` and `/v3beta1`.',
});

const LegacyCall = builder.objectRef<LegacyCallRecord>('LegacyCall').implement({
  description: 'The calls of an API key to a deprecated route of the REST API.',
  fields: (t) => ({
    apiKeyId: t.string({
      description: 'REST id of the API key (`key-…`).',
      resolve: ({ apiKeyId }) => prefixedId('apiKey', apiKeyId),
    }),
    apiKey: t.field({
      type: ApiKey,
      nullable: true,
      description: 'The API key; null if the viewer may not see it.',
      resolve: ({ apiKeyId }, _args, { loaders }) => loaders.of(findApiKeys).load(apiKeyId),
    }),
    version: t.field({
      type: RestVersionEnum,
      description: 'Version of the REST API that the route belongs to.',
      resolve: ({ version }) => version as 'v1' | 'v2' | 'v3',
    }),
    route: t.exposeString('route', {
      description: 'Method and path of the route as documented, for example `GET /v1/sessions`.',
    }),
    count: t.exposeInt('count', { description: 'Number of calls, which may be up to 30 seconds out of date.' }),
    lastCalledAt: t.expose('lastCalledAt', { type: 'DateTime', description: 'Time of the most recent call.' }),
  }),
});

const LegacyCallList = listTypes(LegacyCall, 'LegacyCall', {
  page: 'A page of calls to deprecated REST routes.',
  edge: 'Calls to a deprecated REST route in a list, with a cursor.',
});

builder.objectField(Enterprise, 'legacyCalls', (t) =>
  t.connection(
    {
      type: LegacyCall,
      ...boundary('viewLegacyCalls'),
      description: 'Calls of all API keys to deprecated REST routes, the most recent call first.',
      resolve: async (_enterprise, page, context) => {
        const calls = await listLegacyCalls(context.domain, page, pageLimits);
        return countable(context, legacyCallsOf(context.domain, null), calls);
      },
    },
    LegacyCallList.connection,
  ),
);

builder.objectField(Organization, 'legacyCalls', (t) =>
  t.connection(
    {
      type: LegacyCall,
      ...boundary('viewLegacyCalls'),
      description:
        'Calls to deprecated REST routes by API keys that act only in the organization, the most recent call first.',
      resolve: async ({ id }, page, context) => {
        const calls = await context.loaders.legacyCallPage(id, page);
        return countable(context, legacyCallsOf(context.domain, id), calls);
      },
    },
    LegacyCallList.connection,
  ),
);
