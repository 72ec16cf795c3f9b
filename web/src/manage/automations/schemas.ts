import type { automationFormQuery$data } from '../../__generated__/automationFormQuery.graphql.ts';
import type { FieldTypes } from './trigger.ts';

/** The events and fields for triggers, as the service lists them. */
export type Schemas = automationFormQuery$data['automationSchemas'];
/** An event for triggers. */
export type EventSchema = Schemas['eventTypes'][number];

/** Finds an event by name; `pylon:*` stands for all of pylon's. */
export function findEvent({ eventTypes }: Schemas, eventType: string): EventSchema | undefined {
  const open = `${eventType.split(':', 1)[0]}:*`;
  return eventTypes.find(({ name }) => name === eventType) ?? eventTypes.find(({ name }) => name === open);
}

/** The field of a condition: for "body.a.b", the field of this name, or else "body". */
export function findField(event: EventSchema | undefined, field: string): EventSchema['fields'][number] | undefined {
  const [rootField] = field.split('.', 1);
  return event?.fields.find(({ name }) => name === field) ?? event?.fields.find(({ name }) => name === rootField);
}

/** Returns a function that finds the types of fields; members inside JSON have none. */
export function fieldTypesOf(schemas: Schemas): FieldTypes {
  return (eventType, field) => findField(findEvent(schemas, eventType), field)?.type ?? null;
}
