import { type Operator, operandOf, operatorNames, operatorsOfType } from '../../domain/automations/conditions.ts';
import { type EventField, type ListedEventType, listedEventTypes } from '../../domain/automations/event-types.ts';
import { builder } from '../builder.ts';
import { AutomationConditionOperatorEnum, AutomationFieldTypeEnum } from './automation-enums.ts';

const FieldType = builder.objectRef<EventField & { readonly name: string }>('AutomationEventField').implement({
  description: 'A field of an event, which conditions may be about.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, as `field` of a condition has it.' }),
    type: t.expose('type', { type: AutomationFieldTypeEnum, description: 'The type of its values.' }),
    isRequired: t.exposeBoolean('isRequired', { description: 'Whether every such event has it.' }),
    description: t.exposeString('description', { description: 'What it is.' }),
    operators: t.field({
      type: [AutomationConditionOperatorEnum],
      description: 'The operators that can hold for its values.',
      resolve: ({ type }) => [...operatorsOfType[type]],
    }),
  }),
});

const EventTypeType = builder.objectRef<ListedEventType>('AutomationEventType').implement({
  description: 'Something that happens, which a trigger may be about.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'Its name, as `eventType` of a trigger has it; "*" behind the ":" stands for any word.',
    }),
    hasSource: t.exposeBoolean('hasSource', {
      description:
        'Whether anything here makes such events; others are taken and kept, and nothing ever comes of them.',
    }),
    description: t.exposeString('description', { description: 'When it happens.' }),
    fields: t.field({
      type: [FieldType],
      description: 'What is known of its fields.',
      resolve: ({ fields }) => Object.entries(fields).map(([name, field]) => ({ ...field, name })),
    }),
  }),
});

const OperatorType = builder.objectRef<{ readonly name: Operator }>('AutomationOperator').implement({
  description: 'A way to compare a field of an event with a value.',
  fields: (t) => ({
    name: t.expose('name', {
      type: AutomationConditionOperatorEnum,
      description: 'Its name, as `operator` of a condition has it.',
    }),
    operand: t.string({
      description: 'What the value must be, in words.',
      resolve: ({ name }) => operandOf(name),
    }),
  }),
});

const SchemasType = builder.objectRef<object>('AutomationSchemas').implement({
  description: 'What triggers of automations can be about.',
  fields: (t) => ({
    eventTypes: t.field({
      type: [EventTypeType],
      description: 'Every event.',
      resolve: () => [...listedEventTypes],
    }),
    operators: t.field({
      type: [OperatorType],
      description: 'Every operator of conditions.',
      resolve: () => operatorNames.map((name) => ({ name })),
    }),
  }),
});

builder.queryField('automationSchemas', (t) =>
  t.field({
    type: SchemasType,
    description:
      'The events that triggers of automations can name, their fields and the operators: the same for everybody.',
    resolve: () => ({}),
  }),
);
