import { changesCursorNow } from '../../../domain/changes/change-cursor.ts';
import type { ChangeType } from '../../../domain/changes/tracked-entities.ts';
import type { EntityChange } from '../../../domain/changes/watch-entities.ts';
import { builder } from '../builder.ts';
import { type GraphqlContext, renewLoaders } from '../context.ts';
import { refuseLastEventId } from '../last-event-id.ts';
import { changesCursorField } from '../plans/plan.ts';

const meanings: Record<ChangeType, string> = {
  ADDED: 'The item matches the filter, and this connection has not reported it before or last reported that it left.',
  UPDATED: 'The item still matches the filter and has changed since this connection last reported it.',
  LEFT: 'The item does not match the filter, or no longer does. A client that never had the item can ignore the change.',
  REMOVED:
    'The item was deleted, or is no longer visible: its organization was deleted, or the viewer may no longer view it. A client that never had the item can ignore the change.',
};

const ChangeTypeEnum = builder.enumType('ChangeType', {
  description: 'Type of a change to an item of a list that a client keeps current.',
  values: Object.fromEntries(
    Object.entries(meanings).map(([value, description]) => [value, { value: value as ChangeType, description }]),
  ) as Record<ChangeType, { value: ChangeType; description: string }>,
});

/** The interface of all changes that subscriptions report. */
export const Change = builder.interfaceRef<Pick<EntityChange<unknown>, 'type' | 'cursor'>>('Change').implement({
  description: 'Change of an item, as reported by a subscription to changes.',
  fields: (t) => ({
    type: t.expose('type', {
      type: ChangeTypeEnum,
      description:
        'Type of the change. Show the item for ADDED and UPDATED; remove it from the list for LEFT and REMOVED.',
    }),
    cursor: t.exposeString('cursor', {
      description:
        'Cursor of the change. Send it as `after`, or as `Last-Event-ID` of server-sent events, to continue after this change, in any process and after restarts.',
    }),
  }),
});

/** Tells, for the object field of a change, when it is null. */
export const nowDescription = (what: string): string =>
  `${what} in its current state, which may be newer than the change; null if \`type\` is REMOVED.`;

const afterStart = (name: string) =>
  `Cursor of \`${name}\`, or \`Query.changesCursor\`; changes after it are reported first. If omitted, only changes from now on are reported. BAD_CURSOR for any other text and for a cursor that is newer than the database`;

/** The description of the argument `after` of a subscription to session changes. */
export const afterDescription = (name: string): string => `${afterStart(name)}.`;

/** {@link afterDescription} for resources that can be deleted. */
export const afterRemovalsDescription = (name: string): string =>
  `${afterStart(name)}, and for a cursor before a removal that is more than 30 days old: read the list again then.`;

/**
 * Starts a subscription to changes. The `Last-Event-ID` of the transport, if it has one, takes precedence over the
 * argument `after`.
 */
export function startChanges<R>(
  { eventPosition }: GraphqlContext,
  name: string,
  after: string | null | undefined,
  start: (after: string | null) => Promise<AsyncIterableIterator<EntityChange<R>>>,
): Promise<AsyncIterableIterator<EntityChange<R>>> {
  const { lastEventId } = eventPosition;
  const changes = start(lastEventId ?? after ?? null);
  return lastEventId === null ? changes : changes.catch(refuseLastEventId(`an event of "${name}"`));
}

/** Presents a change with new loaders, and sets its cursor as the event id. */
export function presentChange(value: unknown, context: GraphqlContext): never {
  renewLoaders(context);
  const change = value as EntityChange<unknown>;
  context.eventPosition.eventId = change.cursor;
  return change as never;
}

builder.queryField(changesCursorField, (t) =>
  t.string({
    description:
      'Cursor for the argument `after` of every subscription to changes. The service reads it before all other fields of the operation, so no change is missed between a list in the same operation and the changes after the cursor.',
    resolve: async (_root, _args, { changesCursor, domain }) => changesCursor ?? changesCursorNow(domain.store),
  }),
);
