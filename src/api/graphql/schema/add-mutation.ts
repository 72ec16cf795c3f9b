import type { InputFieldMap, InputShapeFromFields, ObjectRef, ShapeFromTypeParam, TypeParam } from '@pothos/core';
import { type GraphQLResolveInfo, isObjectType } from 'graphql';
import type { CreateOptions } from '../../../domain/idempotency.ts';
import type { VersionCondition } from '../../../domain/versions.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { type GraphqlContext, renewLoaders } from '../context.ts';
import { toUserErrors } from '../errors.ts';
import { type Condition, needs } from './needs.ts';
import { nounOf, upperFirst } from './nouns.ts';
import { createOptionsOf, type PayloadBase, UserErrorType } from './payloads.ts';

/** The builder of the fields of an input. */
export type InputFields = PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>;

/** A field of a payload: its type, and a description unless the name of the field and of the mutation say it. */
type ResultField = TypeParam<SchemaTypes> | { readonly type: TypeParam<SchemaTypes>; readonly description: string };
type ResultFields = Readonly<Record<string, ResultField>>;
type TypeOf<Field> = Field extends { readonly description: string; readonly type: infer Type } ? Type : Field;
type Shape<Type> = Type extends TypeParam<SchemaTypes> ? ShapeFromTypeParam<SchemaTypes, Type, false> : never;
/** The objects of a payload, each of which may be null. */
type Result<Fields> = { readonly [Name in keyof Fields]: Shape<TypeOf<Fields[Name]>> | null };

/** The member that an input has besides its own fields and `clientMutationId`. */
type Taken = 'idempotencyKey' | 'expectedVersion' | 'nothing';
type Input<Fields extends InputFieldMap, Takes extends Taken> = InputShapeFromFields<Fields> &
  (Takes extends 'expectedVersion' ? VersionCondition : unknown);
type InputNames = Readonly<Record<string, string>>;

/** The declaration of a mutation. */
interface MutationOptions<Fields extends InputFieldMap, Takes extends Taken, Results extends ResultFields> {
  readonly description: string;
  /** The permissions that it requires, all of them. Empty: nothing is required, or it depends on the input. */
  readonly needs: readonly Condition[];
  /** The fields of its input, besides the common ones. */
  readonly input?: (t: InputFields) => Fields;
  /** A mutation that creates or sends something takes an idempotency key, a change of a resource its version. */
  readonly takes?: Takes;
  /** The fields of its payload, all nullable, besides the common ones. */
  readonly payload: Results;
  /** Input names by the domain's names, where they differ. A dotted name is a nested member. */
  readonly names?: InputNames | ((input: Input<Fields, Takes>) => InputNames);
  /**
   * Runs the mutation and returns the objects of its payload. The input is without the idempotency key and the
   * `clientMutationId`. A domain error that GraphQL reports as a user error becomes one, with null objects. Any other
   * error is rethrown and makes the payload null.
   */
  readonly act: (
    input: Input<Fields, Takes>,
    context: GraphqlContext,
    /** The idempotency key of the call, for the created or sent object; empty for a mutation without a key. */
    options: CreateOptions,
    info: GraphQLResolveInfo,
  ) => Promise<Result<Results>>;
}

/**
 * Adds a mutation to the schema, with its types XInput and XPayload, and returns the type of the payload. The payload
 * is nullable, so that an error of one mutation does not remove the results of others in the same document, which may
 * contain values that are shown only once.
 */
export function addMutation<
  Results extends ResultFields,
  Fields extends InputFieldMap = Record<never, never>,
  Takes extends Taken = 'nothing',
>(
  name: string,
  {
    description,
    needs: conditions,
    input: fields,
    takes,
    payload,
    names = {},
    act,
  }: MutationOptions<Fields, Takes, Results>,
): ObjectRef<SchemaTypes, Result<Results> & PayloadBase> {
  const inputType = addInput(name, takes, fields);
  const payloadType = addPayload<Results>(name, takes, payload);
  builder.mutationField(name, (t) =>
    t.field({
      type: payloadType as ObjectRef<SchemaTypes, PayloadBase>,
      nullable: true,
      extensions: needs(...conditions),
      description,
      args: { input: t.arg({ type: inputType, required: true, description: `Parameters of the mutation ${name}.` }) },
      resolve: async (_root, { input }, context, info) => {
        // An earlier mutation of the document may have cached what this one changes.
        renewLoaders(context);
        const { clientMutationId = null, idempotencyKey, ...rest } = input;
        const own = rest as Input<Fields, Takes>;
        let wasReplayed = false;
        try {
          const options = createOptionsOf(context, { idempotencyKey }, info, (claimed) => {
            wasReplayed = claimed;
          });
          const result = await act(own, context, options, info);
          return { ...result, wasReplayed, userErrors: [], clientMutationId };
        } catch (error) {
          const userErrors = toUserErrors(error, ['input'], typeof names === 'function' ? names(own) : names);
          if (userErrors === null) throw error;
          return { ...nothingOf(info), wasReplayed: false, userErrors, clientMutationId };
        }
      },
    }),
  );
  return payloadType;
}

const clientMutationIdDescription =
  'Identifier that the client may choose for the mutation. The payload returns it unchanged; null if none was sent.';

function addInput(name: string, takes: Taken | undefined, fields: ((t: InputFields) => InputFieldMap) | undefined) {
  return builder.inputType(`${upperFirst(name)}Input`, {
    description: `Input of the mutation \`${name}\`.${name.startsWith('update') ? ' Omitted fields keep their values.' : ''}`,
    fields: (t) => ({
      ...(fields?.(t) as Record<never, never>),
      ...(takes === 'expectedVersion' && {
        expectedVersion: t.int({
          description:
            'Expected `version` of the resource. If the resource has another version, nothing is changed and the error is CONFLICT. The version is not checked if omitted or null.',
        }),
      }),
      ...(takes === 'idempotencyKey' && {
        idempotencyKey: t.string({
          description:
            'Key of 1 to 255 printable ASCII characters that makes retries safe: within 24 hours, the mutation is carried out only once for the same key and input, and `wasReplayed` is true for the retries. Another input is an IDEMPOTENCY_CONFLICT.',
        }),
      }),
      clientMutationId: t.string({ description: clientMutationIdDescription }),
    }),
  });
}

function addPayload<Results extends ResultFields>(name: string, takes: Taken | undefined, results: Results) {
  return builder.objectRef<Result<Results> & PayloadBase>(`${upperFirst(name)}Payload`).implement({
    description: `Result of the mutation \`${name}\`.`,
    fields: (t) => ({
      ...Object.fromEntries(
        Object.entries(results).map(([field, result]) => {
          const { type, description } = isDescribed(result)
            ? result
            : { type: result, description: describe(name, field) };
          return [field, t.field({ type, nullable: true, description, resolve: (payload) => payload[field] as never })];
        }),
      ),
      userErrors: t.field({
        type: [UserErrorType],
        description: 'Problems with the input. Empty if the mutation was carried out.',
        resolve: (payload) => [...payload.userErrors],
      }),
      clientMutationId: t.string({
        nullable: true,
        description: clientMutationIdDescription,
        resolve: (payload) => payload.clientMutationId,
      }),
      ...(takes === 'idempotencyKey' && {
        wasReplayed: t.boolean({
          description:
            'Whether an earlier call with the same idempotency key carried out the mutation, and this call only returns the result. False if there are user errors.',
          resolve: (payload) => payload.wasReplayed,
        }),
      }),
    }),
  });
}

type Described = Extract<ResultField, { readonly description: string }>;
const isDescribed = (result: ResultField): result is Described => typeof result === 'object' && 'description' in result;

/** The description of the field `webhookEndpoint` or `deletedWebhookEndpointId` of a mutation's payload. */
function describe(mutation: string, field: string): string {
  const deleted = /^deleted(.+)Id$/.exec(field)?.[1];
  const noun = nounOf(deleted ?? field).singular;
  if (deleted) return `Global ID of the deleted ${noun}. Null if there are user errors.`;
  const state = mutation.startsWith('create') ? 'that was created' : 'after the change';
  return `${upperFirst(noun)} ${state}. Null if there are user errors.`;
}

/** Null for each field. */
function nothingOf({ returnType }: GraphQLResolveInfo): Record<string, null> {
  const fields = isObjectType(returnType) ? returnType.getFields() : {};
  return Object.fromEntries(Object.keys(fields).map((name) => [name, null]));
}
