import { type GraphQLObjectType, getNamedType, isAbstractType, isLeafType, isRequiredArgument } from 'graphql';
import type { IdKind } from '../../src/domain/ids.ts';
import {
  fieldsIn,
  fieldsOf,
  leafSelection,
  objectsOf,
  pathsFromQuery,
  payloadSelection,
  type Step,
  schema,
  selectionOf,
} from './documents.ts';
import { type Inputs, readInputs } from './inputs.ts';
import type { Answer, Fill, HttpCall, Operation, Slot } from './operation.ts';
import type { Row } from './rows.ts';

type Field = Step['field'];

/** The fields that were read, as `Type.field`: in the end, the matrix must have read all of them. */
export type Seen = Set<string>;

/** A GraphQL document under construction: values become variables, since they are JSON. */
export class Document {
  readonly variables: Record<string, unknown> = {};
  readonly declared: string[] = [];

  args(field: Field, values: Record<string, unknown>): string {
    const usedArgs = field.args.filter(({ name }) => values[name] !== undefined);
    if (usedArgs.length === 0) return '';
    const parts = usedArgs.map(({ name, type }) => {
      const variable = `v${this.declared.length}`;
      this.declared.push(`$${variable}: ${type}`);
      this.variables[variable] = values[name];
      return `${name}: $${variable}`;
    });
    return `(${parts.join(', ')})`;
  }

  call(operation: 'query' | 'mutation' | 'subscription', selection: string): HttpCall {
    const head = this.declared.length > 0 ? `${operation}(${this.declared.join(', ')})` : operation;
    return { method: 'POST', path: '/graphql', body: { query: `${head} ${selection}`, variables: this.variables } };
  }
}

// The inputs of the arguments on the path: an own object in every slot.
function stepInputs(path: readonly Step[]): Inputs[] {
  return path.map(({ field }) => readInputs(field.args.filter(isRequiredArgument), field.name));
}

function ofStep(fill: Fill, n: number): Fill {
  const own = <T>(map: ReadonlyMap<string, T>) =>
    new Map(
      [...map].filter(([name]) => name.startsWith(`${n}:`)).map(([name, value]) => [name.slice(`${n}:`.length), value]),
    );
  return { ...fill, ids: own(fill.ids), texts: own(fill.texts) };
}

function nest(document: Document, path: readonly Step[], inputs: readonly Inputs[], fill: Fill, leaf: string): string {
  const step = (n: number): string => {
    const { parent, field } = path[n] ?? {};
    if (!parent || !field) return leaf;
    const args = document.args(field, inputs[n]?.values(ofStep(fill, n)) ?? {});
    const inner = step(n + 1);
    const next = path[n + 1]?.parent ?? null;
    const type = getNamedType(field.type);
    const body = next && isAbstractType(type) ? `{ __typename ... on ${next.name} ${inner} }` : inner;
    return `{ __typename ${field.name}${args} ${body} }`;
  };
  return step(0);
}

function isSuccess({ status, text }: Answer): boolean {
  if (status !== 200) return false;
  const body = JSON.parse(text) as { data?: Record<string, any>; errors?: unknown[] };
  if (body.errors) return false;
  return Object.values(body.data ?? {}).every((payload) => [payload, ...(payload?.results ?? [])].every(isDone));
}

const isDone = (payload: { userErrors?: unknown[] } | null) => (payload?.userErrors ?? []).length === 0;

function recordFields(seen: Seen): (answer: Answer) => void {
  return ({ status, text }) => {
    if (status !== 200) return;
    const { data, errors } = JSON.parse(text);
    for (const field of fieldsIn(data, errors)) seen.add(field);
  };
}

/** A query for the leaf fields of every type, and one for each field with more below it. */
export function queryOperations(seen: Seen): Operation[] {
  const operations: Operation[] = [];
  for (const [type, path] of pathsFromQuery()) {
    // Every field of a type's kind reads its leaf fields; if there is none, Query does.
    const leaves = fieldsOf(type).filter(
      (field) => type.name !== 'Query' && isLeafType(getNamedType(field.type)) && field.args.length === 0,
    );
    for (const field of fieldsOf(type).filter((each) => !leaves.includes(each))) {
      if (type.name === 'Query' && (field.name === 'node' || field.name === 'nodes')) {
        operations.push(...nodeOperations(seen, type, field));
      } else {
        operations.push(fieldOperation(seen, type, path, field));
      }
    }
  }
  return operations;
}

function fieldOperation(seen: Seen, parent: GraphQLObjectType, path: readonly Step[], field: Field): Operation {
  const steps = [...path, { parent, field }];
  // Children are sessions elsewhere.
  const within = parent.name === 'KnowledgeFolder' && field.name === 'children' ? 'knowledgeFolders' : field.name;
  const inputs = [...stepInputs(path), readInputs(field.args, within)];
  const leaf = selectionOf(getNamedType(field.type));
  return {
    name: `${parent.name}.${field.name}`,
    isWrite: false,
    slots: inputs.flatMap(({ slots }, n) =>
      slots.map((slot) => ({ ...slot, name: `${n}:${slot.name}`, isAncestor: n < path.length })),
    ),
    hasOptional: inputs.at(-1)?.hasOptional ?? false,
    texts: (inputs.at(-1)?.texts ?? []).map((name) => `${path.length}:${name}`),
    variants: 1,
    call(fill) {
      const document = new Document();
      return document.call('query', nest(document, steps, inputs, fill, leaf));
    },
    isSuccess,
    onOwnAnswer: recordFields(seen),
  };
}

/** The kind of each node type. */
const kindOfType: Readonly<Record<string, IdKind>> = {
  Session: 'session',
  Organization: 'organization',
  Enterprise: 'enterprise',
  User: 'user',
  ServiceUser: 'serviceUser',
  Member: 'member',
  ApiKey: 'apiKey',
  ServiceKey: 'serviceKey',
  Role: 'role',
  IdpGroup: 'idpGroup',
  Attachment: 'attachment',
  Playbook: 'playbook',
  KnowledgeNote: 'note',
  KnowledgeFolder: 'folder',
  Secret: 'secret',
  Checkpoint: 'checkpoint',
  FollowUp: 'followUp',
  Snapshot: 'snapshot',
  ProviderKey: 'providerKey',
  GitConnection: 'gitConnection',
  LegalHold: 'legalHold',
  GitPermission: 'gitPermission',
  Repository: 'repository',
  Automation: 'automation',
  AutomationRun: 'automationRun',
  WebhookEndpoint: 'webhookEndpoint',
  WebhookDelivery: 'webhookDelivery',
  AuditLogEntry: 'auditEntry',
};

function nodeSlot(type: GraphQLObjectType): Slot {
  const isEvent = type.getInterfaces().some(({ name }) => name === 'SessionEvent');
  const kind = isEvent ? 'event' : kindOfType[type.name];
  if (!kind) {
    throw new Error(
      `No rule says what kind of thing the node type ${type.name} is: add it to kindOfType in test/tenancy/graphql-operations.ts.`,
    );
  }
  const entryKind = type.name
    .replace(/^Session|Event$/g, '')
    .replace(/(?<=[a-z])(?=[A-Z])/g, '_')
    .toUpperCase();
  const wanted = kind === 'serviceKey' ? 'SERVICE' : entryKind;
  const fits = (row: Row) => row.kind === wanted;
  return { name: type.name, kinds: [kind], isRequired: true, ...(isEvent || kind === 'serviceKey' ? { fits } : {}) };
}

const globalOf = (type: string, fill: Fill) => Buffer.from(`${type}:${fill.ids.get(type)?.id}`).toString('base64');

/** Nodes of the service itself, which belong to no tenant. */
const ofNobody: ReadonlySet<string> = new Set(['SystemPrincipal', 'Agent']);

// `node` of each type, and `nodes` of all types at once.
function nodeOperations(seen: Seen, query: GraphQLObjectType, field: Field): Operation[] {
  const types = objectsOf(getNamedType(field.type)).filter(({ name }) => !ofNobody.has(name));
  const read = (of: readonly GraphQLObjectType[], isOfMany: boolean): Operation => ({
    name: isOfMany ? `${query.name}.${field.name}` : `${query.name}.${field.name}(${of[0]?.name})`,
    isWrite: false,
    slots: of.map((type) => ({ ...nodeSlot(type), isOfMany })),
    texts: [],
    hasOptional: false,
    variants: 1,
    call(fill) {
      const ids = of.map(({ name }) => globalOf(name, fill));
      const document = new Document();
      const args = document.args(field, isOfMany ? { ids } : { id: ids[0] });
      const named = isOfMany ? getNamedType(field.type) : (of[0] as GraphQLObjectType);
      const inner = isOfMany ? leafSelection(named) : `{ __typename ... on ${named.name} ${leafSelection(named)} }`;
      return document.call('query', `{ __typename ${field.name}${args} ${inner} }`);
    },
    isSuccess,
    onOwnAnswer: recordFields(seen),
  });
  return field.name === 'nodes' ? [read(types, true)] : types.map((type) => read([type], false));
}

/** The sessions that a mutation accepts, if not all. */
const fitting: Readonly<Record<string, Slot['fits']>> = {
  resumeSession: ({ status, is_archived: isArchived }) => status === 'suspended' && !isArchived,
  // A session that waits for the answer to a question, with that question.
  answerQuestion: (row) =>
    'kind' in row
      ? row.kind === 'QUESTION' && (row.data as { reason?: unknown }).reason === 'question'
      : row.pending_question_id !== null,
};

/** One operation per mutation: each of its ids is tested in turn. */
export function mutationOperations(seen: Seen): Operation[] {
  const mutation = schema.getMutationType() as GraphQLObjectType;
  return fieldsOf(mutation).map((field) => {
    const inputs = readInputs(field.args, field.name);
    const selection = payloadSelection(getNamedType(field.type));
    return {
      name: `Mutation.${field.name}`,
      isWrite: true,
      ...inputs,
      slots: inputs.slots.map((slot) => ({ ...slot, fits: fitting[field.name] })),
      call(fill: Fill) {
        const document = new Document();
        const args = document.args(field, inputs.values(fill));
        return document.call('mutation', `{ __typename ${field.name}${args} ${selection} }`);
      },
      isSuccess,
      onOwnAnswer: recordFields(seen),
    };
  });
}
