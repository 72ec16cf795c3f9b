import {
  type AgentOptionValue,
  findOffers,
  type ObservedOption,
} from '../../../domain/sessions/options/observations.ts';
import { type SessionOption, toSessionOptions } from '../../../domain/sessions/options/stored-options.ts';
import { modelIdRule } from '../../../providers/model-id.ts';
import { builder } from '../builder.ts';
import { Agent } from './agents.ts';
import { Session } from './sessions.ts';

const AgentOptionValueType = builder.objectRef<AgentOptionValue>('AgentOptionValue').implement({
  description: 'Value that an option of an agent can have.',
  fields: (t) => ({
    value: t.exposeString('value', { description: 'Value as inputs take it, unique within its option.' }),
    name: t.exposeString('name', { description: 'Display name of the value, on a single line.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Explanation of the value by the agent, on a single line; null if there is none.',
    }),
  }),
});

const AgentOptionType = builder.objectRef<ObservedOption>('AgentOption').implement({
  description:
    'Setting of an agent that users may choose for their sessions, such as the model, the mode or the level of effort. The agent itself defines the names and values.',
  fields: (t) => ({
    // Not "id": clients that cache objects by id would read it as a global one.
    optionId: t.exposeString('id', {
      description: 'Id of the option, unique within its agent. Inputs take it as `optionId`.',
    }),
    name: t.exposeString('name', { description: 'Display name of the option, on a single line.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Explanation of the option by the agent, on a single line; null if there is none.',
    }),
    category: t.exposeString('category', {
      nullable: true,
      description:
        'Category of the option: `mode`, `model`, `model_config`, `thought_level`, or a text of the agent; null if it has none.',
    }),
    currentValue: t.exposeString('currentValue', {
      description: 'Value in a new session that chooses none. `true` or `false` for a switch.',
    }),
    values: t.field({
      type: [AgentOptionValueType],
      description: 'Values that the option can have, at most 500.',
      resolve: ({ values }) => [...values],
    }),
    hasMoreValues: t.exposeBoolean('hasMoreValues', {
      description:
        'Whether the agent has further values that are left out, because there are too many or they are too long. An input may name such a value.',
    }),
    isLocked: t.exposeBoolean('isLocked', {
      description: 'Whether the configuration of the agent locks the option, so that users cannot choose its value.',
    }),
  }),
});

builder.objectField(Agent, 'options', (t) =>
  t.field({
    type: [AgentOptionType],
    nullable: true,
    description:
      'Options that the agent offered when it last started in the organization or was last checked on the host, at most 50. Null if neither has happened; empty if the agent offers no options.',
    args: {
      organizationId: t.arg.id({
        description:
          'Global ID or REST id of the organization in which the agent started. Defaults to all organizations in which the viewer may start sessions.',
      }),
    },
    resolve: ({ id }, { organizationId }, { loaders }) =>
      loaders.ofKeys(findOffers).load({ agent: id, organizationId: organizationId ?? null }),
  }),
);

const SessionOptionType = builder.objectRef<SessionOption>('SessionOption').implement({
  description: 'Value of an option of a session’s agent.',
  fields: (t) => ({
    optionId: t.exposeString('id', { description: 'Id of the option, as in `AgentOption.optionId`.' }),
    value: t.exposeString('value', {
      description: 'Value that a user chose, otherwise the one that the agent last reported.',
    }),
    isPending: t.exposeBoolean('isPending', {
      description:
        'Whether the agent has not yet accepted the value that a user chose. A value that the agent refuses is dropped, and an entry in the log says so.',
    }),
  }),
});

builder.objectField(Session, 'options', (t) =>
  t.field({
    type: [SessionOptionType],
    description:
      'Options of the session’s agent that it has reported or that users have chosen, at most 100. Empty before the agent first starts if none was chosen.',
    resolve: async ({ id }, _args, { loaders }) => toSessionOptions(await loaders.storedOptions.load(id)),
  }),
);

/** A choice of an option in inputs. */
export const AgentOptionInput = builder.inputType('AgentOptionInput', {
  description: 'Value for an option of an agent.',
  fields: (t) => ({
    optionId: t.string({ required: true, description: 'Id of the option, 1 to 200 characters.' }),
    value: t.string({
      required: true,
      description: `Value for the option, at most 200 characters, without control characters. A model that the agent does not offer has only ${modelIdRule}.`,
    }),
  }),
});
