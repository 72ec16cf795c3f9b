import { jsonRow } from '../../store/json-rows.ts';
import type { SessionWithChildren } from './children.ts';
import { type SessionRecord, sessionFields } from './session.ts';

/** A session in JSON. */
export const sessionInJson = jsonRow<'Session', SessionRecord>('Session')({ fields: sessionFields });

/** A session in JSON with the ids of its child sessions. */
export const sessionWithChildrenInJson = jsonRow<'Session', SessionWithChildren>('Session')({
  fields: sessionFields,
  more: ['childIds'],
});
