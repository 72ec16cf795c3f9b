import type { automationFormQuery$data } from '../../__generated__/automationFormQuery.graphql.ts';
import type { FieldTypes } from './trigger.ts';

/** What triggers can be about, as the service lists it. */
export type Schemas = automationFormQuery$data['automationSchemas'];
/** An event that triggers can be about. */
export type EventSchema = Schemas['eventTypes'][number];

/** The event of a name; `pylon:*` stands for all of pylon's. */
export function findEvent({ eventTypes }: Schemas, eventType: string): EventSchema | undefined {
  const open = `${eventType.split(':', 1)[0]}:*`;
  return eventTypes.find(({ name }) => name === eventType) ?? eventTypes.find(({ name }) => name === open);
}

/** The field that a condition is about: of "body.a.b", "body". */
export function findField(event: EventSchema | undefined, field: string): EventSchema['fields'][number] | undefined {
  const [rootField] = field.split('.', 1);
  return event?.fields.find(({ name }) => name === rootField);
}

/** Tells the types of fields; what is inside of JSON has none. */
export function fieldTypesOf(schemas: Schemas): FieldTypes {
  return (eventType, field) => findField(findEvent(schemas, eventType), field)?.type ?? null;
}
