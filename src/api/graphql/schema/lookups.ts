import type { OutputRef } from '@pothos/core';
import { type IdKind, parseGlobalId, parseId, typeOfKind } from '../../../domain/ids.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { Agent } from './agents.ts';
import { eventTypes } from './event-types.ts';
import { SessionEvent } from './events.ts';
import { loadOf } from './node.ts';
import { Principal } from './principals.ts';
import { lowerFirst, typedResources } from './resources.ts';

/** The description of the `id` of a lookup. */
export const lookupId = (what: string) => `Global ID or REST id of the ${what}.`;

/** Finds an object by its kind and its id in any form; null if the viewer may see none. */
export async function loadById(context: GraphqlContext, kind: IdKind, id: string): Promise<object | null> {
  const unprefixedId = parseId(kind, id);
  return unprefixedId === null ? null : loadOf(context, typeOfKind(kind), unprefixedId);
}

/** Adds a field of Query that finds an object by its id. Missing and forbidden both give null. */
function addLookup(
  name: string,
  type: OutputRef,
  what: string,
  load: (context: GraphqlContext, id: string) => Promise<object | null>,
  idIs = lookupId(what),
): void {
  builder.queryField(name, (t) =>
    t.field({
      type,
      nullable: true,
      description: `Looks up ${/^[aeio]/i.test(what) ? 'an' : 'a'} ${what} by its id. Null if there is none or the viewer may not see it.`,
      args: { id: t.arg.id({ required: true, description: idIs }) },
      resolve: (_root, { id }, context) => load(context, id) as never,
    }),
  );
}

const ofKind =
  (kind: IdKind) =>
  (context: GraphqlContext, id: string): Promise<object | null> =>
    loadById(context, kind, id);

for (const { kind, type, typeName, lookup } of typedResources) {
  if (lookup !== undefined) addLookup(lowerFirst(typeName), type, lookup, ofKind(kind));
}

const isEventType = (type: string): boolean => eventTypes.some((each) => each === type);

addLookup('sessionEvent', SessionEvent, 'message or another entry of a session’s log', async (context, id) => {
  // The global ids of entries contain their concrete types.
  const global = parseGlobalId(id);
  return global && isEventType(global.type) ? loadOf(context, global.type, global.id) : loadById(context, 'event', id);
});

addLookup(
  'agent',
  Agent,
  'agent',
  (context, id) => {
    const global = parseGlobalId(id);
    return loadOf(context, 'Agent', global?.type === 'Agent' ? global.id : id);
  },
  'Global ID of the agent, or the id of its profile, such as `demo`.',
);

const principalKinds = ['user', 'serviceUser', 'serviceKey'] as const satisfies readonly IdKind[];

addLookup(
  'principal',
  Principal,
  'user, a service user, a service key or the service itself',
  async (context, id) => {
    const global = parseGlobalId(id);
    if (global?.type === 'SystemPrincipal') return loadOf(context, global.type, global.id);
    // An unprefixed id does not name its type, and belongs to at most one object.
    const found = await Promise.all(principalKinds.map((kind) => loadById(context, kind, id)));
    return found.find((each) => each !== null) ?? null;
  },
  'Global ID or REST id of the principal. The REST id of a service key is that of its API key, `key-…`.',
);
