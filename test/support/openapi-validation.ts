import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { App } from '../../src/app.ts';

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
export function validateAgainstOpenApi(app: App): { requireNone(): Promise<void> } {
  const differences = new Set<string>();
  const pending: Promise<void>[] = [];
  const fetch = app.fetch;

  const recordProblems = async (request: Request, sent: Buffer | null, response: Response, body: Buffer | null) => {
    described ??= readDocuments((path) => fetch(new Request(new URL(path, request.url)), null)).catch((error) => {
      described = null;
      throw error;
    });
    const operation = findOperation(await described, request);
    if (!operation) return;
    const problems = await operation.compare(response, sent, body);
    for (const each of problems) differences.add(`${request.method} ${new URL(request.url).pathname}: ${each}`);
  };

  const validateResponse = (request: Request, requestBody: Buffer | null, response: Response): Response => {
    const type = response.headers.get('content-type') ?? '';
    if (!response.body || !/json/.test(type)) {
      pending.push(recordProblems(request, requestBody, response, null));
      return response;
    }
    return teeBody(response, (body) => pending.push(recordProblems(request, requestBody, response, body)));
  };

  const fastPath = app.fastPath;
  app.fastPath = (incoming, address) => {
    const read = tap(incoming);
    const validateAnswer = (answer: Awaited<ReturnType<typeof fastPath>>) => {
      if (answer === null || !isOfVersion(incoming.url ?? '')) return answer;
      const { method = '', url } = incoming;
      const request = new Request(`http://${incoming.headers.host}${url}`, { method });
      const sent = isJson(incoming.headers['content-type']) ? Buffer.concat(read) : null;
      if (answer instanceof Response) return validateResponse(request, sent, answer);
      const { status, headers, text } = answer;
      const response = new Response(text, { status, headers: { ...headers } });
      pending.push(recordProblems(request, sent, response, text === null ? null : Buffer.from(text)));
      return answer;
    };
    const answering = fastPath(incoming, address);
    return answering instanceof Promise ? answering.then(validateAnswer) : validateAnswer(answering);
  };

  app.fetch = async (request, address) => {
    if (!isOfVersion(new URL(request.url).pathname)) return fetch(request, address);
    const length = Number(request.headers.get('content-length') ?? Number.POSITIVE_INFINITY);
    const isSmall = isJson(request.headers.get('content-type')) && length < maxBytes;
    // Only for a complete body: a slow or endless body is for the server to handle.
    // The body may fail while the API does other work: the API must answer that.
    const sent = isSmall
      ? request
          .clone()
          .arrayBuffer()
          .then(Buffer.from, () => null)
      : null;
    const response = await fetch(request, address);
    return validateResponse(request, await sent, response);
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

/** Returns the chunks of a body that are read, by any reader. */
function tap(incoming: IncomingMessage): readonly Buffer[] {
  const read: Buffer[] = [];
  const on = incoming.on.bind(incoming);
  incoming.on = (name: string, listener: (...args: any[]) => void) => {
    if (name === 'data') on('data', (chunk: Buffer) => read.push(chunk));
    return on(name, listener);
  };
  return read;
}

// Copies the body at the client's pace; a body that the client does not read to its end is not validated.
function teeBody(response: Response, onBody: (body: Buffer) => void): Response {
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
  return new Response(response.body?.pipeThrough(passing) ?? null, response);
}

interface DescribedOperation {
  readonly method: string;
  readonly path: RegExp;
  readonly parameters: number;
  compare(response: Response, sent: Buffer | null, body: Buffer | null): Promise<readonly string[]>;
}

function findOperation(described: readonly DescribedOperation[], request: Request): DescribedOperation | undefined {
  const { pathname } = new URL(request.url);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  return described.find((each) => each.method === method && each.path.test(pathname));
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
        async compare(response, sent, body) {
          const status = response.status in operation.responses ? String(response.status) : 'default';
          const answer = operation.responses[status];
          if (!answer) return [`status ${response.status} is not described`];
          const type = (response.headers.get('content-type') ?? '').split(';')[0] as string;
          const types = Object.keys(answer.content ?? {});
          const problems: string[] = [];
          if (types.length > 0 ? !types.includes(type) : type !== '') {
            problems.push(`${response.status} with "${type}" where ${JSON.stringify(types)} is described`);
          } else if (body) {
            const schemaRef = `closed-${name}${at}/responses/${status}/content/${pointer(type)}/schema`;
            const text = response.headers.get('content-encoding') === 'gzip' ? await promisify(gunzip)(body) : body;
            problems.push(
              ...problemsOf(schemaRef, JSON.parse(text.toString())).map((each) => `${response.status}: ${each}`),
            );
          }
          if (sent && response.status < 300 && operation.requestBody) {
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
