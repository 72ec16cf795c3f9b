import { inspect } from 'node:util';
import type { Attempt, Route, Sent } from '../support/arbitraries-of-requests.ts';
import { responseOf, viewOf } from '../support/request-views.ts';
import type { TestApp } from './rest-app.ts';

/** The timeout of a request; one without a response by then hangs. */
const patienceMs = 10_000;

/** The response to a request. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Null if there is none, or if it would never end. */
  readonly text: string | null;
}

/** Sends requests with the right key, and counts them. */
export interface Sender {
  readonly count: number;
  send(sent: Sent): Promise<Answer>;
}

/** Creates a {@link Sender}. Its keys are an administrator's, so that requests pass the permission checks. */
export function createSender(test: TestApp): Sender {
  let count = 0;
  return {
    get count() {
      return count;
    },
    send(sent) {
      count += 1;
      return inTime(sent, answerTo(test, sent));
    },
  };
}

async function answerTo(test: TestApp, { method, target, headers, body, isOverSocket }: Sent): Promise<Answer> {
  const isCurrent = target.startsWith('/v3');
  const authorization = `Bearer ${isCurrent ? test.adminToken : test.v1Key}`;
  // A real connection sends the length of a complete body; here it must be set.
  const length = body === null ? {} : { 'content-length': `${Buffer.byteLength(body)}` };
  const request = new Request(test.url + target, {
    method,
    headers: { ...headers, authorization, ...(isOverSocket ? {} : length) },
    body,
    redirect: 'manual',
  });
  // Node accepts 16 KiB of headers, and refuses larger ones itself.
  const isSent = isOverSocket && target.length < 8_000;
  const response = await (isSent ? fetch(request) : test.app.respond(viewOf(request, '127.0.0.1')).then(responseOf));
  const isEndless = (response.headers.get('content-type') ?? '').startsWith('text/event-stream');
  if (isEndless) await response.body?.cancel();
  const text = isEndless ? null : await response.text();
  return { status: response.status, headers: response.headers, text };
}

/** Rejects, with the request, when a response takes too long. */
export async function inTime<T>(sent: object, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${patienceMs} ms to ${shown(sent)}`)), patienceMs);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

const shown = (sent: object): string => inspect(sent, { maxStringLength: 2_000, maxArrayLength: 50 });

interface Issue {
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
}

/** Routes for which version 1 has only 400, with one string, for every error (docs/wire/v1.md, consumption.md). */
const plain = new Set(['POST /v1/sessions', 'GET /v1/enterprise/consumption']);

/** Throws unless a response has its version's form and fits the attempt. */
export function requireAnswer(route: Route, attempt: Attempt, answer: Answer): void {
  const { status, text } = answer;
  const fail = (what: string): never => {
    throw new Error(`${what} It was answered with ${status}: ${text?.slice(0, 1_500)}\n${shown(attempt)}`);
  };
  if (status >= 500) fail('The server failed.');
  const isPlain = plain.has(route.name);
  const statuses = attempt.statuses?.map((each) => (isPlain && each === 422 ? 400 : each));
  if (statuses && !statuses.includes(status)) fail(`The status must be one of ${statuses.join(', ')}.`);
  if (status < 400 || attempt.method === 'HEAD') return;
  if (status === 405 && !answer.headers.get('allow')) fail('A 405 must name the methods in Allow.');
  const body = readProblem(answer, attempt.target.startsWith('/v3') ? 'v3' : 'earlier', fail);
  if (typeof body.detail !== 'string' && status === 422) requireNames(attempt, body.detail, fail);
  if (isPlain && attempt.names && attempt.statuses?.includes(422))
    requireMention(attempt.names, `${body.detail}`, fail);
}

function readProblem({ status, headers, text }: Answer, form: 'v3' | 'earlier', fail: (what: string) => never) {
  const type = headers.get('content-type') ?? '';
  const wanted = form === 'v3' ? 'application/problem+json' : 'application/json';
  if (type !== wanted) fail(`The content type must be ${wanted}, but was "${type}".`);
  const body = JSON.parse(text ?? '');
  const members = ['type', 'title', 'status', 'detail', 'instance', 'errors', 'retry_after'];
  const others = Object.keys(body).filter(
    (name) => !(form === 'v3' ? members : ['detail', 'retry_after']).includes(name),
  );
  if (others.length > 0) fail(`A problem has no "${others.join('", "')}".`);
  if (form === 'v3') {
    if (body.status !== status) fail('The problem must repeat the status.');
    if (!body.title || body.type !== 'about:blank' || !`${body.instance}`.startsWith('/')) fail('RFC 9457 wants more.');
    if (status === 422 && JSON.stringify(body.errors) !== JSON.stringify(body.detail))
      fail('"errors" repeats "detail".');
  }
  if (status === 422 ? !isIssues(body.detail) : typeof body.detail !== 'string' || body.detail === '') {
    fail('"detail" must be a sentence, and of a 422 a list of what is wrong.');
  }
  if (/prisma|postgres|\bselect |\bat .*\.(?:ts|js):\d|\[object |NaN,/i.test(text ?? '')) {
    fail('An answer must not show what is inside.');
  }
  if (
    /must be (an? \w+), but was \1\b|\b(?:Invalid (?:option|input|discriminator)|Too (?:small|big)|Unrecognized key)/.test(
      text ?? '',
    )
  ) {
    fail('What is wrong must be said in a sentence of our own.');
  }
  return body as { detail: string | Issue[] };
}

function isIssues(detail: unknown): detail is Issue[] {
  const isText = (value: unknown) => typeof value === 'string' && value !== '';
  return (
    Array.isArray(detail) &&
    detail.length > 0 &&
    detail.every(
      ({ loc, msg, type }) =>
        Array.isArray(loc) &&
        loc.every((each) => typeof each === 'string') &&
        ['body', 'query', 'path', 'header'].includes(`${loc[0]}`) &&
        isText(msg) &&
        isText(type),
    )
  );
}

/** A 422 names the invalid value, its parent, or something inside it. */
function requireNames({ names }: Attempt, issues: readonly Issue[], fail: (what: string) => never): void {
  // With arbitrary headers, one of them may be the invalid value.
  if (!names || issues.some(({ loc }) => loc[0] === 'header')) return;
  const isNamed = issues.some(({ loc }) => {
    const shorter = Math.min(loc.length, names.length);
    const isDeepEnough = loc.length >= Math.min(2, names.length);
    return isDeepEnough && names.slice(0, shorter).join('\n') === loc.slice(0, shorter).join('\n');
  });
  if (!isNamed) fail(`A place of the 422 must be ${JSON.stringify(names)}.`);
}

function requireMention([, name]: readonly string[], detail: string, fail: (what: string) => never): void {
  if (name !== undefined && !detail.includes(`"${name}`)) fail(`The sentence must name "${name}".`);
}
