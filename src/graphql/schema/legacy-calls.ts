import { prefixedId } from '../../domain/ids.ts';
import { type LegacyCallRecord, legacyCallsOf, listLegacyCalls } from '../../domain/legacy-calls/list-legacy-calls.ts';
import { builder } from '../builder.ts';
import { countable } from '../connections.ts';
import { pageLimits } from '../loaders.ts';
import { ApiKey } from './api-keys.ts';
import { countedConnection } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';

const RestVersionEnum = builder.enumType('RestVersion', {
  description: 'A version of REST.',
  values: {
    V1: { value: 'v1', description: 'Version 1, below /v1.' },
    V2: { value: 'v2', description: 'Version 2, below /v2.' },
    V3: { value: 'v3', description: 'Version 3, below /v3 and /v3beta1.' },
  } as const,
});

const LegacyCall = builder.objectRef<LegacyCallRecord>('LegacyCall').implement({
  description: 'How often a key has called a route of REST that is deprecated.',
  fields: (t) => ({
    apiKeyId: t.string({
      description: 'The key, as REST writes its id.',
      resolve: ({ apiKeyId }) => prefixedId('apiKey', apiKeyId),
    }),
    apiKey: t.field({
      type: ApiKey,
      nullable: true,
      description: 'The key; null for who may not see it.',
      resolve: ({ apiKeyId }, _args, { loaders }) => loaders.apiKeys.load(apiKeyId),
    }),
    version: t.field({
      type: RestVersionEnum,
      description: 'The version of REST that the route is of.',
      resolve: ({ version }) => version as 'v1' | 'v2' | 'v3',
    }),
    route: t.exposeString('route', { description: 'The method and path, as they are documented.' }),
    count: t.exposeInt('count', { description: 'How often, up to half a minute late.' }),
    lastCalledAt: t.expose('lastCalledAt', { type: 'DateTime', description: 'When last.' }),
  }),
});

const LegacyCallConnection = countedConnection(LegacyCall, 'LegacyCall', {
  page: 'A page of calls of deprecated routes.',
  edge: 'Calls of a deprecated route in a list.',
});

builder.objectField(Enterprise, 'legacyCalls', (t) =>
  t.connection(
    {
      type: LegacyCall,
      ...boundary('viewLegacyCalls'),
      description: 'Which keys still call which deprecated routes of REST, the latest call first.',
      resolve: async (_enterprise, page, context) => {
        const calls = await listLegacyCalls(context.domain, page, pageLimits);
        return countable(context, legacyCallsOf(context.domain, null), calls);
      },
    },
    LegacyCallConnection,
  ),
);

builder.objectField(Organization, 'legacyCalls', (t) =>
  t.connection(
    {
      type: LegacyCall,
      ...boundary('viewLegacyCalls'),
      description: 'Which keys that act in it alone still call which deprecated routes of REST, the latest call first.',
      resolve: async ({ id }, page, context) => {
        const calls = await context.loaders.legacyCallPage(id, page);
        return countable(context, legacyCallsOf(context.domain, id), calls);
      },
    },
    LegacyCallConnection,
  ),
);
