import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import {
  absent,
  allowedBy,
  anyText,
  anyValue,
  changed,
  type JsonSchema,
  nested,
  type Path,
  pathsIn,
  toJson,
} from './arbitraries.ts';

/** A query parameter. */
export interface Parameter {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required?: boolean;
}

/** A route of an OpenAPI document, with its references resolved. */
export interface Route {
  /** `GET /v1/sessions` */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly query: readonly Parameter[];
  /** Null if it takes no JSON. */
  readonly body: JsonSchema | null;
  readonly isAllowed: (body: unknown) => boolean;
  /** The methods served at the same path. */
  readonly servedMethods: readonly string[];
}

/** A request as it is sent, without its key. */
export interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  /** True: over a real connection instead of directly into the app. */
  readonly isOverSocket: boolean;
}

/** A request with its expected response. */
export interface Attempt extends Sent {
  /** Default: any status except a failure of the server. */
  readonly statuses?: readonly number[];
  /** The path that a 422 must name, with its member names. */
  readonly names?: Path;
}

/** Valid values for the parts of a route. */
export interface Filling {
  /** Valid values of a path parameter, URL-encoded; the first is used by default. */
  readonly ids: (name: string) => readonly string[];
  /** Ids of objects of other kinds. */
  readonly otherIds: readonly string[];
  readonly body: () => Record<string, unknown>;
}

/** Reads the routes of a document. */
export function routesOf(document: any): Route[] {
  const ajv = new Ajv2020({ strict: false, strictNumbers: true, validateFormats: false });
  const resolve = (node: any): any => {
    if (Array.isArray(node)) return node.map(resolve);
    if (node === null || typeof node !== 'object') return node;
    if (node.$ref) return resolve(document.components.schemas[node.$ref.split('/').at(-1)]);
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value)]));
  };
  return Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, operation]) => {
      const found = operation.requestBody?.content['application/json']?.schema;
      const body = found ? resolve(found) : null;
      const validate = body ? ajv.compile(body) : () => true;
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        query: (operation.parameters ?? []).filter((each: { in: string }) => each.in === 'query'),
        body,
        isAllowed: (value) => validate(value) as boolean,
        servedMethods: Object.keys(methods).map((each) => each.toUpperCase()),
      };
    }),
  );
}

const json = { 'content-type': 'application/json' };
const namesIn = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);

/** Encodes a text for a URL. Invalid Unicode is encoded like its bytes. */
export function encoded(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : `${encodeURIComponent(text.toWellFormed())}%ED%A0%80`;
}

function targetOf(
  route: Route,
  filling: Filling,
  pathValues: Readonly<Record<string, string>> = {},
  search = '',
): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_all, name) => pathValues[name] ?? filling.ids(name)[0] ?? '');
  const needed = route.query.filter(({ name, required }) => required === true && !search.startsWith(`${name}=`));
  // All required parameters are dates.
  const query = [...needed.map(({ name }) => `${name}=2026-01-01`), ...(search === '' ? [] : [search])].join('&');
  return query === '' ? path : `${path}?${query}`;
}

const transport = fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });

/** Returns a valid request for a route. */
export function goodRequest(route: Route, filling: Filling): Sent {
  const body = route.body ? toJson(filling.body()) : null;
  const headers = body === null ? {} : json;
  return { method: route.method, target: targetOf(route, filling), headers, body, isOverSocket: true };
}

type Wrong = Partial<Omit<Attempt, 'isOverSocket'>>;

/** Generates requests with one invalid part and a known response: a refusal that names it. */
export function refusedRequests(route: Route, filling: Filling): fc.Arbitrary<Attempt> {
  const kinds: fc.WeightedArbitrary<Wrong>[] = [{ weight: 1, arbitrary: wrongMethods(route) }];
  const add = (weight: number, arbitrary: fc.Arbitrary<Wrong>) => kinds.push({ weight, arbitrary });
  if (route.body) add(6, wrongMembers(route, route.body, filling));
  if (route.body) add(3, wrongBodies);
  if (route.query.length > 0) add(3, wrongQueries(route, filling));
  if (namesIn(route.path).some((name) => name.endsWith('_id'))) add(2, wrongIds(route, filling));
  return fc.tuple(fc.oneof(...kinds), transport).map(([wrong, isOverSocket]) => {
    const { method, ...good } = goodRequest(route, filling);
    const isBodyless = ['GET', 'HEAD', 'OPTIONS'].includes(wrong.method ?? method);
    const merged = { method, ...good, ...wrong, isOverSocket };
    return isBodyless ? { ...merged, headers: {}, body: null } : merged;
  });
}

function wrongMembers(route: Route, schema: JsonSchema, filling: Filling): fc.Arbitrary<Wrong> {
  const paths = pathsIn(schema, filling.body());
  if (paths.length === 0) return wrongBodies;
  const value = fc.oneof({ weight: 1, arbitrary: fc.constant(absent) }, { weight: 5, arbitrary: anyValue });
  return fc
    .tuple(fc.constantFrom(...paths), value)
    .map(([path, to]) => ({ at: path, body: changed(filling.body(), path, to) }))
    .filter(({ body }) => !route.isAllowed(body))
    .map(({ at: path, body }) => ({ body: toJson(body), statuses: [422], names: ['body', ...path] }));
}

const tooDeep = toJson({ deep: nested(200) });
const bytes = (...values: number[]) => new Uint8Array(values);

const wrongBodies: fc.Arbitrary<Wrong> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('[]', '"text"', 'null', '5', 'true', '[{}]', '1e999')
      .map((body) => ({ body, statuses: [422], names: ['body'] })),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom<string | Uint8Array<ArrayBuffer>>(
        '',
        ' ',
        '{',
        '{"name":',
        '{"name":"x"',
        '{"name":NaN}',
        "{'name':1}",
        '{"name":1,}',
        '{} {}',
        '\u0000',
        'name=x',
        '<name/>',
        tooDeep,
        '['.repeat(100_000),
        bytes(0xff, 0xfe, 0x7b, 0x7d),
        bytes(0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d),
        bytes(0x22, 0xed, 0xa0, 0x80, 0x22),
      )
      .map((body) => ({ body, statuses: [400] })),
  },
  { weight: 1, arbitrary: fc.constant({ body: `{"name":"${'x'.repeat(1_048_576)}"}`, statuses: [413] }) },
);

function wrongQueries(route: Route, filling: Filling): fc.Arbitrary<Wrong> {
  const kinds = route.query.map(({ name, schema }) =>
    wrongTexts(schema).map((text) => ({ search: `${name}=${text}`, name })),
  );
  const broken = fc
    .constantFrom('{', '[]', '5', '"x"', '{"first":', 'null')
    .map((text) => ({ search: `qs=${encodeURIComponent(text)}`, name: 'qs' }));
  return fc.oneof(...kinds, broken).map(({ search, name }) => ({
    target: targetOf(route, filling, {}, search),
    statuses: [422],
    names: ['query', name],
  }));
}

function wrongTexts({ type, minimum, maximum }: JsonSchema): fc.Arbitrary<string> {
  if (type === 'boolean') return fc.constantFrom('yes', '2', '', 'null', '%00', 'truefalse', '[]');
  if (type !== 'integer') return fc.constantFrom('%00', 'a%00b', '%00%00');
  const texts = ['', 'ten', '1.5', '1e3', '0x10', 'NaN', 'Infinity', '1,2', '%00', ' 1', '9'.repeat(30), '--1', '١'];
  if (minimum !== undefined) texts.push(`${minimum - 1}`);
  if (maximum !== undefined) texts.push(`${maximum + 1}`);
  return fc.constantFrom(...texts.map((text) => (text.startsWith('%') ? text : encodeURIComponent(text))));
}

function wrongIds(route: Route, filling: Filling): fc.Arbitrary<Wrong> {
  const names = namesIn(route.path).filter((name) => name.endsWith('_id'));
  return fc
    .tuple(
      fc.constantFrom(...names),
      fc.oneof(fc.constantFrom(...filling.otherIds), textInPath(route).filter(isSomething)),
    )
    .map(([name, id]) => ({ target: targetOf(route, filling, { [name]: id }), statuses: [400, 403, 404, 405, 422] }));
}

const isSomething = (text: string) => !/^(?:\.|%2e|%09|%0a|%0d){0,3}$/i.test(text);

// An empty or normalized parameter results in another route's URL; a DELETE must never reach that.
function textInPath(route: Route): fc.Arbitrary<string> {
  const raw = [
    '%',
    '%zz',
    '%2',
    '%C0%80',
    '%ED%A0%80',
    '%FF',
    'a/b',
    'a%2Fb',
    '%5C',
    ';x=1',
    '%00',
    'a?b',
    'a#b',
    '%0d%0a',
    '%e2%80%ae',
  ];
  return fc
    .oneof(anyText.map(encoded), fc.constantFrom(...raw))
    .filter((text) => route.method !== 'DELETE' || isSomething(text));
}

function wrongMethods(route: Route): fc.Arbitrary<Wrong> {
  const others = ['POST', 'PUT', 'PATCH', 'PROPFIND', 'PURGE', 'REPORT'];
  // If the ids of another route match the same URL, the method belongs to that route.
  const unserved = others.filter((method) => !route.servedMethods.includes(method.toUpperCase()));
  return fc.constantFrom(...unserved).map((method) => ({ method, statuses: [400, 403, 404, 405, 422] }));
}

/** Generates requests with arbitrary parts: only a failure of the server, or a response in another version's form, is wrong. */
export function wildRequests(route: Route, filling: Filling): fc.Arbitrary<Attempt> {
  const kinds: fc.WeightedArbitrary<Wrong>[] = [{ weight: 2, arbitrary: wildParts(route, filling) }];
  if (route.body) kinds.push({ weight: 4, arbitrary: wildMembers(route.body, filling) });
  if (route.query.length > 0) kinds.push({ weight: 2, arbitrary: wildParameters(route, filling) });
  return fc.tuple(fc.oneof(...kinds), wildHeaders, transport).map(([wild, headers, isOverSocket]) => {
    const good = goodRequest(route, filling);
    const merged = { ...good, ...wild, isOverSocket };
    const hasBody = !['GET', 'HEAD', 'OPTIONS'].includes(merged.method);
    return { ...merged, headers: { ...(hasBody ? json : {}), ...headers }, body: hasBody ? merged.body : null };
  });
}

/** Makes one member an arbitrary value. */
function wildMembers(schema: JsonSchema, filling: Filling): fc.Arbitrary<Wrong> {
  const paths = pathsIn(schema, filling.body());
  if (paths.length === 0) return fc.constant({});
  const anyPath = fc.constantFrom(...paths);
  return fc.tuple(anyPath, anyValue).map(([at, to]) => ({
    body: toJson(changed(filling.body(), at, to)),
    names: ['body', ...at],
  }));
}

/** Makes one query parameter an arbitrary value. */
function wildParameters(route: Route, filling: Filling): fc.Arbitrary<Wrong> {
  return fc.tuple(fc.constantFrom(...route.query), anyText).map(([{ name }, text]) => ({
    target: targetOf(route, filling, {}, `${name}=${encoded(text)}`),
    names: ['query', name],
  }));
}

function wildParts(route: Route, filling: Filling): fc.Arbitrary<Wrong> {
  const path = fc.record(
    Object.fromEntries(
      namesIn(route.path).map((name) => [
        name,
        fc.oneof(
          { weight: 12, arbitrary: fc.constantFrom(...filling.ids(name)) },
          { weight: 1, arbitrary: fc.constantFrom(...filling.otherIds) },
          { weight: 1, arbitrary: textInPath(route) },
        ),
      ]),
    ),
  );
  const isRead = route.method === 'GET';
  const method = isRead ? fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'OPTIONS') : fc.constant(route.method);
  const end = route.method === 'DELETE' ? fc.constant('') : fc.constantFrom('', '', '/', '//');
  return fc
    .tuple(path, wildSearch(route), method, end, wildBody(route, filling))
    .map(([pathValues, search, sent, slash, body]) => ({
      method: sent,
      target: targetOf({ ...route, path: route.path + slash }, filling, pathValues, search),
      body,
    }));
}

function wildSearch(route: Route): fc.Arbitrary<string> {
  const parameterNames = route.query.map(({ name }) => name);
  const name = fc.constantFrom(...parameterNames, 'qs', '__proto__', 'constructor', 'unknown', '');
  const style = fc.constantFrom('', '', '[]', '[0]', '[a][b]', '%5B%5D');
  const value = fc.oneof(
    anyText.map(encoded),
    fc.constantFrom('1', '5', 'true', 'false', '1,2', '%', '%zz', '%FF', '%00', '0', '1700000000', '2026-01-01', '+'),
    fc
      .dictionary(fc.constantFrom(...parameterNames, '__proto__', 'x'), anyValue, { maxKeys: 3 })
      .map((qs) => encoded(toJson(qs))),
  );
  const part = fc.tuple(name, style, value).map(([key, suffix, text]) => `${key}${suffix}=${text}`);
  return fc.array(part, { maxLength: 4 }).map((parts) => parts.join('&'));
}

function wildBody(route: Route, filling: Filling): fc.Arbitrary<Sent['body']> {
  const raw = wrongBodies.map(({ body = null }) => body);
  if (!route.body) return fc.oneof(fc.constant(null), raw, anyValue.map(toJson));
  const good = Object.keys(filling.body());
  const mixed = fc.tuple(allowedBy(route.body), fc.subarray(good)).map(([value, subset]) => {
    const fresh = filling.body();
    return toJson({ ...(value as object), ...Object.fromEntries(subset.map((name) => [name, fresh[name]])) });
  });
  return fc.oneof(
    { weight: 4, arbitrary: mixed },
    { weight: 1, arbitrary: raw },
    { weight: 1, arbitrary: anyValue.map(toJson) },
  );
}

const wildHeaders: fc.Arbitrary<Record<string, string>> = fc.record(
  {
    'content-type': fc.constantFrom(
      '',
      'text/plain',
      'application/xml',
      'application/json; charset=latin1',
      'multipart/form-data',
      'application/problem+json',
      'x',
    ),
    accept: fc.constantFrom(
      '',
      '*/*',
      'text/html',
      'text/event-stream',
      'application/xml;q=0',
      'text/event-stream;q=x',
    ),
    'idempotency-key': fc.constantFrom(
      '',
      'x'.repeat(255),
      'x'.repeat(256),
      'with space',
      '\u00e9',
      '__proto__',
      'one key',
    ),
    'last-event-id': fc.constantFrom('', '0', 'x', '-1', '9'.repeat(40)),
    'if-none-match': fc.constantFrom('*', '""', 'W/', '"a", W/"b"'),
    'accept-encoding': fc.constantFrom('gzip', 'gzip;q=0', 'br, *', 'identity;q=0'),
    range: fc.constantFrom('bytes=0-', 'bytes=-1', 'x'),
  },
  { requiredKeys: [] },
);
