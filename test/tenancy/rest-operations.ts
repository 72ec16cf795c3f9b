import type { IdKind } from '../../src/domain/ids.ts';
import { prefixedId } from '../../src/domain/ids.ts';
import { call as fetchJson, type TestApp } from '../support/app.ts';
import type { Answer, Fill, Operation, Slot } from './operation.ts';
import { isTelling, kindsOf } from './slots.ts';

interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly additionalProperties?: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

interface Route {
  readonly operationId?: string;
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
}

/** The parts of an OpenAPI document that the matrix uses. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Route>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, JsonSchema>> };
}

/** A route with its description. */
export interface RestOperation extends Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly takesIdempotencyKey: boolean;
  /** True if it streams to clients that request server-sent events. */
  readonly isStream: boolean;
}

const multipart = 'multipart/form-data';
const versions = ['v1', 'v2', 'v3'] as const;

/** The documents of all served versions. */
export async function readDocuments(test: Pick<TestApp, 'url'>): Promise<OpenApi[]> {
  const found = await Promise.all(versions.map((version) => fetchJson(test, null, 'GET', `/openapi/${version}.json`)));
  return found.filter(({ status }) => status === 200).map(({ body }) => body as OpenApi);
}

/** One operation per route of a document. Throws, with the rule to add, for an unknown parameter or body. */
export function restOperations(document: OpenApi): RestOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]) => restOperation(document, path, method.toUpperCase(), route)),
  );
}

/** Parameters and members whose names identify no object. */
const plainNames = new Set(
  `first after limit offset skip order archive archived is_archived unlisted include_archived start_date end_date
   created_after created_before updated_after updated_before created_date_from created_date_to updated_date_from
   updated_date_to time_before time_after start_time end_time before since until action actions origin origins status
   statuses repo_names pr_state pinned_repo access_type category force scope role_type revoke_current sort direction user_type
   min_sessions min_searches start end idp_group_name path branch_name filter_name pr_url commit_sha`
    .split(/\s+/)
    .filter((name) => name !== ''),
);

const ofMethod: Readonly<Record<string, boolean>> = { POST: true, PUT: true, PATCH: true, DELETE: true };

function restOperation(document: OpenApi, path: string, method: string, route: Route): RestOperation {
  const parameters = (route.parameters ?? []).filter((parameter) => parameter.in !== 'header');
  const resource = resourceOf(path);
  const slots: Slot[] = [];
  const texts: string[] = [];
  for (const { name, in: location, required = false, schema } of parameters) {
    // The name of the preceding object, as in `/attachments/{uuid}/{name}`.
    if (location === 'path' && name === 'name') continue;
    const kinds = isTelling(name) ? null : kindsOf(name, location === 'path', resource);
    if (kinds) slots.push({ name: `${location}:${name}`, kinds, isRequired: location === 'path' || required });
    else if (isTelling(name)) texts.push(`${location}:.${name}`);
    else if (isText(schema) && !plainNames.has(name)) {
      throw new Error(
        `No rule says what the parameter "${name}" of ${method} ${path} is: add it to plainNames in test/tenancy/rest-operations.ts; or, when things are found by it, to test/tenancy/slots.ts: an id’s word, or a text’s column.`,
      );
    }
  }
  const content = route.requestBody?.content ?? {};
  const body = (content['application/json'] ?? content[multipart])?.schema;
  const isForm = content['application/json'] === undefined;
  if (route.requestBody && !body) {
    throw new Error(
      `No rule says how ${method} ${path} is sent: its body is ${Object.keys(content).join(', ')}. Add one to test/tenancy/rest-operations.ts.`,
    );
  }
  const members = body ? readBody(document, body, resource) : null;
  slots.push(...(members?.slots ?? []));
  texts.push(...(members?.texts ?? []));
  return {
    name: `${method} ${path}`,
    method,
    path,
    parameters,
    takesIdempotencyKey: (route.parameters ?? []).some(({ name }) => name === 'Idempotency-Key'),
    isStream: method === 'GET' && (route.summary ?? '').includes('text/event-stream'),
    isWrite: ofMethod[method] ?? false,
    slots: slots.map((slot) => inScope(path, slot)),
    texts,
    hasOptional: true,
    variants: members?.variants ?? 1,
    call(fill) {
      const target = { method, path: filledPath(path, parameters, fill) };
      if (!members) return target;
      const value = members.value(fill);
      return isForm ? { ...target, form: value as Record<string, string> } : { ...target, body: value };
    },
    // A redirect too: it leads to a file.
    isSuccess: ({ status }: Answer) => status >= 200 && status < 400,
  };
}

// A number, a boolean, a date or an enum value identifies no object.
function isText(schema: JsonSchema): boolean {
  const types = [schema.type, schema.items?.type].flat();
  const isClosed = schema.enum ?? schema.items?.enum ?? schema.format;
  return isClosed === undefined && types.every((type) => !['boolean', 'integer', 'number'].includes(type ?? ''));
}

// Below /enterprise, objects of the enterprise and its roles are meant.
function inScope(path: string, slot: Slot): Slot {
  const isOfEnterprise = path.includes('/enterprise/') && !path.includes('{org_id}') && !slot.name.startsWith('query:');
  if (!slot.kinds.includes('role')) return { ...slot, isOfEnterprise };
  // A route of a role itself accepts any role.
  if (slot.name.startsWith('path:')) return slot;
  return { ...slot, fits: ({ scope }) => scope === (isOfEnterprise ? 'enterprise' : 'organization') };
}

/** The kind of a plain "id" in a path: in `/api-keys/{id}`, an API key. */
function resourceOf(path: string): string {
  const words = path.split('/').filter((part) => part !== '' && !part.startsWith('{'));
  return (words.at(-1) ?? '').replaceAll('-', '').replace(/s$/, '');
}

function filledPath(path: string, parameters: readonly Parameter[], fill: Fill): string {
  const query = new URLSearchParams();
  for (const { name, in: location, schema, required } of parameters) {
    if (location !== 'query') continue;
    const picked = fill.ids.get(`query:${name}`);
    const text = fill.texts.get(`query:.${name}`);
    if (picked) query.append(name, prefixedId(picked.kind, picked.id));
    else if (text !== undefined) query.append(name, text);
    else if (required || (fill.isFull && !leftOut.has(name) && kindsOf(name, false, '') === null))
      query.append(name, String(plainValue(schema.items ?? schema, name, fill)));
  }
  let before: { kind: IdKind; id: string } | undefined;
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const picked = fill.ids.get(`path:${name}`);
    if (isTelling(name) && name !== 'name') return encodeURIComponent(fill.texts.get(`path:.${name}`) ?? 'walk');
    if (!picked && before) return encodeURIComponent(fill.nameOf(before.kind, before.id));
    before = picked;
    return picked ? encodeURIComponent(prefixedId(picked.kind, picked.id)) : 'walk';
  });
  const search = query.size > 0 ? `?${query}` : '';
  return filled + search;
}

interface Members {
  readonly slots: Slot[];
  readonly texts: string[];
  readonly variants: number;
  value(fill: Fill): unknown;
}

const maxDepth = 5;

function readBody(document: OpenApi, schema: JsonSchema, resource: string): Members {
  const slots: Slot[] = [];
  const texts: string[] = [];
  let variants = 1;
  const read = (memberSchema: JsonSchema, name: string, isRequired: boolean, depth: number) => {
    const choices = alternatives(document, memberSchema);
    if (isRequired) variants = Math.max(variants, choices.length);
    for (const choice of choices) {
      if (choice.enum && isRequired) variants = Math.max(variants, choice.enum.length);
      if (choice.items && depth < maxDepth) read(choice.items, name, isRequired, depth + 1);
      for (const [member, inner] of Object.entries(choice.properties ?? {})) {
        const path = `${name}.${member}`;
        const needed = isRequired && (choice.required ?? []).includes(member);
        const kinds = kindsOf(member, false, resource);
        if (slots.some((slot) => slot.name === path) || texts.includes(path)) continue;
        if (kinds) slots.push({ name: path, kinds, isRequired: needed });
        else if (isTelling(member)) texts.push(path);
        if (!kinds && depth < maxDepth) read(inner, path, needed, depth + 1);
      }
    }
  };
  read(schema, 'body:', true, 0);
  return { slots, texts, variants, value: (fill) => buildBody(document, schema, 'body:', fill, 0) };
}

function alternatives(document: OpenApi, schema: JsonSchema): JsonSchema[] {
  const own = resolve(document, schema);
  const choices = own.anyOf ?? own.oneOf;
  if (choices) return choices.flatMap((choice) => alternatives(document, choice)).filter(({ type }) => type !== 'null');
  if (!own.allOf) return [own];
  const parts = own.allOf.map((part) => resolve(document, part));
  const properties = Object.assign({}, ...parts.map((part) => part.properties ?? {}));
  return [{ ...own, properties, required: parts.flatMap((part) => part.required ?? []) }];
}

function resolve(document: OpenApi, schema: JsonSchema): JsonSchema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : resolve(document, document.components?.schemas?.[name] ?? {});
}

function buildBody(document: OpenApi, bodySchema: JsonSchema, name: string, fill: Fill, depth: number): unknown {
  const choices = alternatives(document, bodySchema);
  const schema = choices[fill.variant % choices.length] ?? {};
  if (schema.items) return [buildBody(document, schema.items, name, fill, depth + 1)];
  if (!schema.properties) {
    const picked = fill.ids.get(name);
    const text = fill.texts.get(name);
    if (picked) return wireId(picked.kind, picked.id);
    return text ?? plainValue(schema, name.split('.').at(-1) ?? '', fill);
  }
  const value: Record<string, unknown> = {};
  for (const [member, inner] of Object.entries(schema.properties)) {
    const path = `${name}.${member}`;
    const isPresent = [...fill.ids.keys(), ...fill.texts.keys()].some(
      (key) => key === path || key.startsWith(`${path}.`),
    );
    const isFilled = fill.isFull && depth === 0 && !leftOut.has(member) && kindsOf(member, false, '') === null;
    const isRequired = alwaysFilled.has(member) || (schema.required ?? []).includes(member);
    if (!isPresent && !isFilled && !isRequired) continue;
    if (depth < maxDepth) value[member] = buildBody(document, inner, path, fill, depth + 1);
  }
  return value;
}

const wireId = (kind: IdKind, id: string) => prefixedId(kind, id);

const today = new Date().toISOString().slice(0, 10);

/** Parameters that change the kind of call have tests of their own. */
const leftOut = new Set(['idempotent', 'force', 'snapshot_id', 'agent', 'after', 'offset', 'skip', 'scheduled_at']);

/** Parameters that another member's default requires: a schedule is recurring by default. */
const alwaysFilled = new Set(['frequency']);

/** Values for texts that need a specific form. */
const plainTexts: Readonly<Record<string, string>> = {
  email: 'walk@example.com',
  emails: 'walk@example.com',
  ip_ranges: '0.0.0.0/0',
  ranges: '0.0.0.0/0',
  ip_access_list: '0.0.0.0/0',
  cidr: '0.0.0.0/0',
  key: 'WALK',
  permissions: 'ViewOrgSessions',
  event_type: 'github:push',
  frequency: '0 9 * * *',
};

function plainValue(schema: JsonSchema, name: string, fill: Fill): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[fill.variant % schema.enum.length];
  const type = [schema.type].flat().find((each) => each !== 'null');
  if (type === 'integer' || type === 'number') return /_at$|time|date|expires/.test(name) ? 4_102_444_800 : 5;
  if (type === 'boolean') return false;
  if (type === 'array') return [];
  if (type === 'object' || type === undefined) return {};
  if (/date/.test(name)) return today;
  if (/_at$|expires/.test(name)) return '2100-01-01T00:00:00Z';
  return plainTexts[name] ?? 'walk';
}
