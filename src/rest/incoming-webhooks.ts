import { type OpenedWebhook, openWebhook, receiveWebhook } from '../domain/automations/receive-webhook.ts';
import type { Services } from '../domain/context.ts';
import { DomainError } from '../domain/errors.ts';
import { isStorable } from '../domain/input.ts';
import { limitHeaders } from '../domain/limits/limit-headers.ts';
import type { RestEnv } from './arrival.ts';
import { complaintAboutNames } from './json-names.ts';
import { RequestError, refusalOf } from './refusal.ts';
import { parseJson, readText } from './request.ts';
import { dialect as v3 } from './v3/dialect.ts';

/** The largest body that a webhook takes, in bytes. */
const maxWebhookBytes = 65_536; // 64 KiB

/** `/webhooks/automations/{id}`: where others tell an automation that something happened. Of no version; refusals are v3's. */
export interface IncomingWebhooks {
  /** Answers every request; it never rejects. */
  fetch(request: Request, env: RestEnv): Promise<Response>;
}

/** See {@link IncomingWebhooks}. */
export function createIncomingWebhooks(services: Services): IncomingWebhooks {
  return {
    async fetch(request, env) {
      const { pathname } = new URL(request.url);
      let opened: OpenedWebhook | null = null;
      let answer: Response;
      try {
        const automationId = requirePost(request, pathname);
        if (automationId === null) return new Response(null, { status: 204, headers: { allow } });
        const secret = request.headers.get('x-webhook-secret');
        opened = await openWebhook(services, { automationId, secret, address: env.address });
        if (opened === null) throw noWebhook(secret);
        answer = await receive(services, request, opened);
      } catch (error) {
        answer = refuse(services, error, pathname);
      }
      for (const [name, value] of Object.entries(limitHeaders(opened?.spending ?? null)))
        answer.headers.set(name, value);
      answer.headers.set('cache-control', 'no-store');
      return answer;
    },
  };
}

// Nobody reads of an automation's id whether there is one.
function noWebhook(secret: string | null): RequestError {
  const said =
    secret === null
      ? 'The header X-Webhook-Secret is required: it holds the secret of the webhook.'
      : 'There is no webhook of this address and secret (X-Webhook-Secret).';
  return new RequestError(said, { status: 401, headers: { 'www-authenticate': 'X-Webhook-Secret' } });
}

const allow = 'POST, OPTIONS';

/** The id that a path has; null for who asks only what can be done there. */
function requirePost(request: Request, pathname: string): string | null {
  const [, automationId] = /^\/webhooks\/automations\/([^/]+)\/?$/.exec(pathname) ?? [];
  if (automationId === undefined) throw new RequestError(v3.unknownRoute, { status: 404 });
  if (request.method === 'POST') return automationId;
  if (request.method === 'OPTIONS') return null;
  throw new RequestError('Method not allowed: a webhook takes POST.', { status: 405, headers: { allow } });
}

async function receive(services: Services, request: Request, { automationId }: OpenedWebhook): Promise<Response> {
  requireJson(request);
  const id = deliveryIdOf(request);
  const text = await readText(request, maxWebhookBytes);
  const body = parseJson(text);
  if (!isStorable(body)) {
    const said = 'The body must be Unicode text without NUL characters and lone surrogates.';
    throw new RequestError(said, { status: 400 });
  }
  const complaint = complaintAboutNames(text);
  if (complaint !== null) throw new RequestError(complaint, { status: 400 });
  const delivery = { id, text, body, headers: headersOf(request) };
  const { run, isReplay } = await receiveWebhook(services, automationId, delivery);
  const said = { run_id: run?.id ?? null, status: run?.status ?? 'ignored', is_replay: isReplay };
  return Response.json(said, { status: isReplay ? 200 : 202 });
}

/** What a sender may say that its body is: JSON of any kind, in UTF-8 if it says so. Nothing: what it is, shows. */
function requireJson(request: Request): void {
  const given = request.headers.get('content-type');
  if (given === null) return;
  const [type = '', ...parameters] = given
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((each) => each.startsWith('charset='))?.slice('charset='.length);
  const isJson = /^(?:application|text)\/(?:json|[a-z0-9!#$&^_.+-]+\+json)$/.test(type);
  if (isJson && (charset === undefined || /^"?utf-?8"?$/.test(charset))) return;
  const said = `A webhook takes JSON in UTF-8, such as "application/json", but the Content-Type was ${JSON.stringify(given.slice(0, 80))}.`;
  throw new RequestError(said, { status: 415, headers: { accept: 'application/json' } });
}

/** The headers in which senders name a delivery, the first of which counts. */
const deliveryHeaders = ['webhook-id', 'x-delivery-id', 'x-github-delivery', 'idempotency-key'] as const;

function deliveryIdOf(request: Request): string | null {
  for (const name of deliveryHeaders) {
    const id = request.headers.get(name)?.trim();
    if (id === undefined || id === '') continue;
    if (!/^[\x20-\x7e]{1,255}$/.test(id)) {
      throw new RequestError(`${name} must be 1 to 255 printable ASCII characters.`, { status: 400 });
    }
    return `${name}:${id}`;
  }
  return null;
}

const credentials: ReadonlySet<string> = new Set([
  'x-webhook-secret',
  'authorization',
  'proxy-authorization',
  'cookie',
]);

const headersOf = (request: Request) =>
  Object.fromEntries([...request.headers].filter(([name]) => !credentials.has(name)));

function refuse(services: Services, error: unknown, pathname: string): Response {
  const nowhere = { query: new Set<string>(), path: new Set<string>() };
  if (error instanceof DomainError) {
    // Deleted since its secret was looked at: as if it had been before.
    const isGone = error.code === 'NOT_FOUND';
    return v3.problem(isGone ? noWebhook('') : refusalOf(error, v3, nowhere), pathname);
  }
  if (error instanceof RequestError) {
    const { status, message, issues, headers } = error;
    return v3.problem({ status, message, issues, headers }, pathname);
  }
  services.log.error({ err: error, path: pathname }, 'An incoming webhook failed unexpectedly.');
  return v3.problem({ status: 500, message: 'Something went wrong', issues: [] }, pathname);
}
