import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { App } from '../../src/app.ts';
import { Reply } from '../../src/http/reply.ts';
import type { RequestView } from '../../src/http/request-view.ts';
import { responseOf, viewOf } from './request-views.ts';

/** The maximum size of a validated body; longer ones pass without validation. */
const maxBytes = 4 * 1_024 * 1_024;
const versions = ['v1', 'v2', 'v3'];

/** Read from the first app: the documents of all apps are equal except for their URLs, and expensive to compile. */
let described: Promise<readonly DescribedOperation[]> | null = null;

/**
 * Validates every response of an app against its OpenAPI document: status and content type must be described, and the body must
 * match without additional properties. The body of an accepted request must match too. Undescribed paths (aliases) and event
 * streams pass.
 */
export function validateAgainstOpenApi(app: Pick<App, 'respond'>): { requireNone(): Promise<void> } {
  const differences = new Set<string>();
  const pending: Promise<void>[] = [];
  const { respond } = app;

  const recordProblems = async (request: RequestView, sent: Buffer | null, reply: Reply, body: Buffer | null) => {
    described ??= readDocuments(async (path) => {
      const url = new URL(path, 'http://localhost');
      return responseOf(await respond(viewOf(new Request(url), null)));
    }).catch((error) => {
      described = null;
      throw error;
    });
    const operation = findOperation(await described, request);
    if (!operation) return;
    const problems = await operation.compare(reply, sent, body);
    for (const each of problems) differences.add(`${request.method} ${request.path}: ${each}`);
  };

  app.respond = async (request) => {
    if (!isOfVersion(request.path)) return respond(request);
    const { read, view } = tap(request);
    const reply = await respond(view);
    const sent = isJson(request.header('content-type')) ? Buffer.concat(read) : null;
    const record = (body: Buffer | null) => pending.push(recordProblems(request, sent, reply, body));
    const { status, headers, body } = reply;
    if (body === null || !/[/+]json/.test(contentTypeOf(reply))) record(null);
    else if (body instanceof ReadableStream) return new Reply(status, headers, teeBody(body, record));
    else record(Buffer.from(body));
    return reply;
  };

  return {
    async requireNone() {
      await Promise.all(pending);
      if (differences.size > 0) throw new Error(`Not as described:\n${[...differences].slice(0, 20).join('\n')}`);
    },
  };
}

const isOfVersion = (path: string) => /^\/v\d/.test(path);
const isJson = (type: string | null | undefined) => /^application\/json/.test(type ?? '');

const contentTypeOf = ({ headers }: Reply) => String(headers['content-type'] ?? '');

/** A view of the same request, and the parts of its body that the handler has read. */
function tap(request: RequestView): { read: readonly Uint8Array[]; view: RequestView } {
  const read: Uint8Array[] = [];
  const view: RequestView = Object.create(request, {
    // The accessors and methods of the original need the original itself.
    signal: { get: () => request.signal },
    principalId: {
      get: () => request.principalId,
      set: (id: string | null) => {
        request.principalId = id;
      },
    },
    header: { value: (name: string) => request.header(name) },
    headers: { value: () => request.headers() },
    destroy: { value: () => request.destroy() },
    read: {
      value: (onPart: Parameters<RequestView['read']>[0]) =>
        request.read((part) => {
          read.push(part);
          return onPart(part);
        }),
    },
  });
  return { read, view };
}

// Copies the body at the client's pace; a body that the client does not read to its end is not validated.
function teeBody(stream: ReadableStream<Uint8Array>, onBody: (body: Buffer) => void): ReadableStream<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const passing = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.byteLength;
      if (size <= maxBytes) chunks.push(chunk);
      controller.enqueue(chunk);
    },
    flush() {
      if (size <= maxBytes) onBody(Buffer.concat(chunks));
    },
  });
  return stream.pipeThrough(passing);
}

interface DescribedOperation {
  readonly method: string;
  readonly path: RegExp;
  readonly parameters: number;
  compare(reply: Reply, sent: Buffer | null, body: Buffer | null): Promise<readonly string[]>;
}

function findOperation(described: readonly DescribedOperation[], request: RequestView): DescribedOperation | undefined {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  return described.find((each) => each.method === method && each.path.test(request.path));
}

async function readDocuments(get: (path: string) => Promise<Response>): Promise<readonly DescribedOperation[]> {
  const documents = versions.map(async (name) => describeAll(name, await (await get(`/openapi/${name}.json`)).json()));
  // `/sessions/insights` comes before `/sessions/{devin_id}`.
  return (await Promise.all(documents)).flat().toSorted((a, b) => a.parameters - b.parameters);
}

type Json = any;

function describeAll(name: string, document: Json): DescribedOperation[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: `open-${name}`, ...document });
  ajv.addSchema({ $id: `closed-${name}`, ...closed(document, name) });
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => {
      const at = `#/paths/${pointer(path)}/${method}`;
      const compiled = new Map<string, ValidateFunction>();
      const problemsOf = (schemaRef: string, value: Json): string[] => {
        const validate = compiled.get(schemaRef) ?? ajv.compile({ $ref: schemaRef });
        compiled.set(schemaRef, validate);
        if (validate(value)) return [];
        return (validate.errors ?? []).map(
          ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
        );
      };
      return {
        method: method.toUpperCase(),
        path: new RegExp(
          `^${path.replaceAll(/\{\w+\}/g, '[^/]+').replace(/\/$/, '')}${path.endsWith('/') ? '/' : '/?'}$`,
        ),
        parameters: path.split('{').length,
        async compare(reply, sent, body) {
          const status = reply.status in operation.responses ? String(reply.status) : 'default';
          const answer = operation.responses[status];
          if (!answer) return [`status ${reply.status} is not described`];
          const type = contentTypeOf(reply).split(';')[0] as string;
          const types = Object.keys(answer.content ?? {});
          const problems: string[] = [];
          if (types.length > 0 ? !types.includes(type) : type !== '') {
            problems.push(`${reply.status} with "${type}" where ${JSON.stringify(types)} is described`);
          } else if (body) {
            const schemaRef = `closed-${name}${at}/responses/${status}/content/${pointer(type)}/schema`;
            problems.push(
              ...problemsOf(schemaRef, JSON.parse(body.toString())).map((each) => `${reply.status}: ${each}`),
            );
          }
          if (sent && reply.status < 300 && operation.requestBody) {
            const schemaRef = `open-${name}${at}/requestBody/content/${pointer('application/json')}/schema`;
            problems.push(...problemsOf(schemaRef, JSON.parse(sent.toString())).map((each) => `was taken: ${each}`));
          }
          return problems;
        },
      };
    }),
  );
}

const pointer = (name: string) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));

// Objects have only the described properties. Of an intersection only the outer schema is closed.
function closed(node: Json, name: string): Json {
  if (Array.isArray(node)) return node.map((each) => closed(each, name));
  if (node === null || typeof node !== 'object') return node;
  if (node.allOf) return { ...opened(node, name), unevaluatedProperties: false };
  const inside = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value, name)]));
  const isObject = node.type === 'object' && node.properties && node.additionalProperties === undefined;
  return isObject ? { ...inside, additionalProperties: false } : inside;
}

function opened(node: Json, name: string): Json {
  return JSON.parse(JSON.stringify(node).replaceAll('"#/components', `"open-${name}#/components`));
}
