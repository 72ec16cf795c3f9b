import {
  type Operator,
  operandOf,
  operatorNames,
  operatorsOfType,
} from '../../../domain/automations/model/conditions.ts';
import type { EventField } from '../../../domain/automations/model/event-field.ts';
import { type ListedEventType, listedEventTypes } from '../../../domain/automations/model/event-types.ts';
import { builder } from '../builder.ts';
import { AutomationConditionOperatorEnum, AutomationFieldTypeEnum } from './automation-enums.ts';

const FieldType = builder.objectRef<EventField & { readonly name: string }>('AutomationEventField').implement({
  description: 'A field of an event that conditions can refer to.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the field, for use as `field` of a condition.' }),
    type: t.expose('type', { type: AutomationFieldTypeEnum, description: 'Data type of the values of the field.' }),
    isRequired: t.exposeBoolean('isRequired', { description: 'Whether every event of the type has the field.' }),
    description: t.exposeString('description', { description: 'Description of the field in words.' }),
    operators: t.field({
      type: [AutomationConditionOperatorEnum],
      description: 'Operators that can be used with the field.',
      resolve: ({ type }) => [...operatorsOfType[type]],
    }),
  }),
});

const EventTypeType = builder.objectRef<ListedEventType>('AutomationEventType').implement({
  description: 'A type of event that triggers can refer to.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description:
        'Name of the event type, for use as `eventType` of a trigger. `*` after the colon stands for any word.',
    }),
    hasSource: t.exposeBoolean('hasSource', {
      description:
        'Whether the service produces events of the type. Triggers for other event types can be saved but never start a run.',
    }),
    description: t.exposeString('description', { description: 'Description of the event in words.' }),
    fields: t.field({
      type: [FieldType],
      description: 'Known fields of events of the type.',
      resolve: ({ fields }) => Object.entries(fields).map(([name, field]) => ({ ...field, name })),
    }),
  }),
});

const OperatorType = builder.objectRef<{ readonly name: Operator }>('AutomationOperator').implement({
  description: 'An operator for conditions that compares a field of an event with a value.',
  fields: (t) => ({
    name: t.expose('name', {
      type: AutomationConditionOperatorEnum,
      description: 'Name of the operator, for use as `operator` of a condition.',
    }),
    operand: t.string({
      description: 'Description of the value that the operator requires.',
      resolve: ({ name }) => operandOf(name),
    }),
  }),
});

const SchemasType = builder.objectRef<object>('AutomationSchemas').implement({
  description: 'The event types and operators that automations can use.',
  fields: (t) => ({
    eventTypes: t.field({
      type: [EventTypeType],
      description: 'Event types that triggers can refer to.',
      resolve: () => [...listedEventTypes],
    }),
    operators: t.field({
      type: [OperatorType],
      description: 'Operators that conditions can use.',
      resolve: () => operatorNames.map((name) => ({ name })),
    }),
  }),
});

builder.queryField('automationSchemas', (t) =>
  t.field({
    type: SchemasType,
    description:
      'Event types, fields and operators that triggers of automations can use. The result does not depend on the viewer.',
    resolve: () => ({}),
  }),
);
