// switchyard api: sends one request to the service of the sign-in.
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { commandPrefix } from '../common/command-line.ts';
import { limitedFetch } from '../common/limited-fetch.ts';
import { requireSignIn, runClientCommand, UsageError } from './client/client-command.ts';
import { plain } from './client/plain.ts';
import { requestService, rootMessage } from './client/request.ts';

const prefix = commandPrefix('api');
/** The maximum size of an answer that is searched for GraphQL errors. Others are passed on as they arrive. */
const maxGraphqlBytes = 64 * 1_048_576;

const usage = `Usage:
  ${prefix} PATH               send a request to the service, such as /v3/self
  ${prefix} graphql -q QUERY   send a GraphQL document

Prints the body of the response. The exit code is 1 if the service refuses the request, or answers with GraphQL errors.
Uses the last sign-in, or SWITCHYARD_URL and SWITCHYARD_TOKEN.

Options:
  -X, --method METHOD      the method (default: GET, or POST with a body)
  -d, --data DATA          the body, as JSON; @FILE: from a file; @-: from the standard input
  -H, --header NAME:VALUE  a header; may be repeated
  -q, --query QUERY        a GraphQL document; @FILE: from a file
  -v, --variables JSON     the variables of the document
  -h, --help               show this text

Examples:
  ${prefix} /v3/self
  ${prefix} graphql -q '{ viewer { principal { displayName } } }'`;

const options = {
  method: { type: 'string', short: 'X' },
  data: { type: 'string', short: 'd' },
  header: { type: 'string', short: 'H', multiple: true },
  query: { type: 'string', short: 'q' },
  variables: { type: 'string', short: 'v' },
} as const;

async function contentOf(value: string): Promise<string> {
  if (!value.startsWith('@')) return value;
  return value === '@-' ? text(process.stdin) : readFile(value.slice(1), 'utf8');
}

function headersOf(lines: readonly string[] = []): Record<string, string> {
  const headers = new Headers();
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? [];
    try {
      headers.append(name, value);
    } catch (error) {
      throw new UsageError(`"${line}" isn’t a header. Expected NAME:VALUE.`, { cause: error });
    }
  }
  return Object.fromEntries(headers);
}

const methods: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

function methodOf(value: string | undefined, hasBody: boolean): string {
  const method = value?.toUpperCase() ?? (hasBody ? 'POST' : 'GET');
  if (!methods.includes(method))
    throw new UsageError(`METHOD must be one of ${methods.join(', ')}, but is "${value}".`);
  if (hasBody && (method === 'GET' || method === 'HEAD')) throw new UsageError(`A request with ${method} has no body.`);
  return method;
}

async function graphqlBody(query: string | undefined, variables: string | undefined): Promise<string> {
  if (query === undefined) throw new UsageError('--query is missing.');
  try {
    const parsed: unknown = variables === undefined ? {} : JSON.parse(await contentOf(variables));
    return JSON.stringify({ query: await contentOf(query), variables: parsed });
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new UsageError(`--variables isn’t JSON: ${error.message}`, { cause: error });
    throw error;
  }
}

await runClientCommand(usage, options, async ({ values, positionals: [path, ...more] }) => {
  const isGraphql = path === 'graphql' || path === '/graphql';
  if (path === undefined || more.length > 0) throw new UsageError('Expected one PATH.');
  if (!isGraphql && !path.startsWith('/')) throw new UsageError(`PATH must begin with "/", but is "${path}".`);
  if (!isGraphql && (values.query ?? values.variables) !== undefined)
    throw new UsageError('--query and --variables are for graphql.');
  const signedIn = await requireSignIn(null);
  const data = values.data === undefined ? undefined : await contentOf(values.data);
  const body = isGraphql && data === undefined ? await graphqlBody(values.query, values.variables) : data;
  const method = methodOf(values.method, body !== undefined);
  const headers = headersOf(values.header);
  const response = await requestService(
    signedIn,
    isGraphql ? '/graphql' : path,
    {
      method,
      body,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    },
    isGraphql ? limitedFetch(maxGraphqlBytes) : fetch,
  );
  if (!response.ok) process.stderr.write(`${response.status} ${plain(response.statusText)}\n`);
  if (!isGraphql) {
    if (response.body !== null) await pipeline(response.body, process.stdout, { end: false }).catch(ignoreClosedOutput);
    if (!response.ok) process.exitCode = 1;
    return;
  }
  const answer = await response.text();
  process.stdout.write(`${answer}\n`);
  if (!response.ok || hasErrors(answer)) process.exitCode = 1;
});

// The reader of the output, such as "head", may want no more.
function ignoreClosedOutput(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw new Error(`The answer ended too early: ${rootMessage(error)}`, { cause: error });
}

function hasErrors(answer: string): boolean {
  try {
    return (JSON.parse(answer) as { readonly errors?: unknown }).errors !== undefined;
  } catch {
    return true;
  }
}
