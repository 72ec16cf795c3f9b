import { createHash } from 'node:crypto';
import {
  type OpenedWebhook,
  openWebhook,
  type ReadSignedBody,
} from '../../domain/automations/triggers/open-webhook.ts';
import { receiveWebhook, type WebhookOutcome } from '../../domain/automations/triggers/receive-webhook.ts';
import type { Services } from '../../domain/context.ts';
import { isStorable } from '../../domain/input.ts';
import { limitHeaders } from '../../domain/limits/limit-headers.ts';
import { jsonReply, Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import { findNameProblem } from './json-names.ts';
import { RequestError } from './refusal.ts';
import { decode, maxBodyBytes, parseJson, readBytes } from './request.ts';
import { defaultUnprovenLimits, limitUnprovenBytes, type UnprovenLimits } from './unproven-bytes.ts';
import { allow, refuseWebhook, requireNoEncoding, requirePost } from './webhook-requests.ts';

/**
 * Serves `/webhooks/automations/{id}`, the unversioned address to which other systems send events for an automation.
 * Errors have version 3's form.
 */
export interface IncomingWebhooks {
  /** Answers every request; it never rejects. */
  respond(request: RequestView): Promise<Reply>;
}

/** See {@link IncomingWebhooks}. */
export function createIncomingWebhooks(
  services: Services,
  unprovenLimits: UnprovenLimits = defaultUnprovenLimits,
): IncomingWebhooks {
  const countUnproven = limitUnprovenBytes(unprovenLimits);
  return {
    async respond(request) {
      const { address } = request;
      let opened: OpenedWebhook | null = null;
      let reply: Reply;
      try {
        const automationId = requirePost(request, 'automations');
        if (automationId === null) return new Reply(204, { allow });
        const { secrets, signature } = readProof(request);
        requireNoEncoding(request);
        const unproven = countUnproven(address);
        const readBody: ReadSignedBody = ({ update, isBuffered }) => {
          const onPart = (part: Uint8Array) => {
            unproven.add(part.byteLength);
            update(part);
          };
          return readBytes(request, maxBodyBytes, { onPart, isBuffered });
        };
        try {
          const signed = signature === null ? null : { value: signature, readBody };
          opened = await openWebhook(services, { automationId, secrets, signature: signed, address });
        } finally {
          unproven.release();
        }
        if (opened === null) throw noWebhook();
        const bytes = opened.signedBody ?? (await readBytes(request, maxBodyBytes));
        const signedHash = opened.signedBody === null ? null : createHash('sha256').update(bytes).digest('hex');
        reply = await receive(services, request, { automationId: opened.automationId, bytes, signedHash });
      } catch (error) {
        // NOT_FOUND: the automation was deleted after its secret was checked. Answer as if it had been deleted before.
        reply = refuseWebhook(services, error, request, noWebhook);
      }
      return reply.with({ ...limitHeaders(opened?.spending ?? null), 'cache-control': 'no-store' });
    },
  };
}

/** The headers that carry the secret itself: Switchyard's own, and GitLab's. */
const secretHeaders = ['x-webhook-secret', 'x-gitlab-token'] as const;
const signatureHeader = 'x-hub-signature-256';

/** The evidence that a caller knows the secret. */
interface Proof {
  readonly secrets: readonly string[];
  /** In hexadecimal. */
  readonly signature: string | null;
}

/** Reads the proof of a request. 401 if there is none, or if the signature has another form. */
function readProof(request: RequestView): Proof {
  const secrets = secretHeaders.flatMap((name) => request.header(name) ?? []);
  const signed = request.header(signatureHeader);
  if (signed === null) {
    if (secrets.length > 0) return { secrets, signature: null };
    const isWeak = request.header('x-hub-signature') !== null;
    const weak = isWeak ? ' X-Hub-Signature, which is SHA-1, is not enough.' : '';
    throw unproved(
      `The secret of the webhook is required: in X-Webhook-Secret or X-Gitlab-Token, or as X-Hub-Signature-256, the signature of the body.${weak}`,
    );
  }
  const [, signature] = /^sha256=([0-9a-f]{64})$/i.exec(signed.trim()) ?? [];
  if (signature === undefined) throw unproved('X-Hub-Signature-256 must be "sha256=" and 64 hexadecimal digits.');
  return { secrets, signature };
}

// The response does not reveal if an automation with this id exists.
const noWebhook = () =>
  unproved(
    'No webhook exists at this address with this secret (X-Webhook-Secret, X-Gitlab-Token), or the body was not signed with it (X-Hub-Signature-256).',
  );

const unproved = (message: string) =>
  new RequestError(message, { status: 401, headers: { 'www-authenticate': 'X-Webhook-Secret' } });

/** A request whose sender has proved the secret. */
interface WebhookRequest {
  readonly automationId: string;
  readonly bytes: Uint8Array;
  /** The SHA-256 of the body in hexadecimal, if it is signed. */
  readonly signedHash: string | null;
}

async function receive(
  services: Services,
  request: RequestView,
  { automationId, bytes, signedHash }: WebhookRequest,
): Promise<Reply> {
  const id = deliveryIdOf(request);
  const text = jsonOf(request, decode(bytes));
  const body = parseJson(text);
  if (!isStorable(body)) {
    const message = 'The body must be Unicode text without NUL characters and lone surrogates.';
    throw new RequestError(message, { status: 400 });
  }
  const problem = findNameProblem(text);
  if (problem !== null) throw new RequestError(problem, { status: 400 });
  // GitHub sends a ping when a webhook is set up, and expects a response.
  if (request.header('x-github-event') === 'ping') return answerOf({ run: null, isReplay: false });
  const delivery = { id, signedHash, text, body, headers: headersOf(request) };
  return answerOf(await receiveWebhook(services, automationId, delivery));
}

function answerOf({ run, isReplay }: WebhookOutcome): Reply {
  const body = { run_id: run?.id ?? null, status: run?.status ?? 'ignored', is_replay: isReplay };
  return jsonReply(isReplay ? 200 : 202, body);
}

/**
 * Extracts the JSON of a body: the whole body, or the form field "payload", which is GitHub's default. 415 for another
 * Content-Type; without one, the body is JSON.
 */
function jsonOf(request: RequestView, text: string): string {
  const contentType = request.header('content-type');
  if (contentType === null) return text;
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((each) => each.startsWith('charset='))?.slice('charset='.length);
  const isUtf8 = charset === undefined || /^"?utf-?8"?$/.test(charset);
  if (isUtf8 && /^(?:application|text)\/(?:json|[a-z0-9!#$&^_.+-]+\+json)$/.test(type)) return text;
  if (isUtf8 && type === 'application/x-www-form-urlencoded') {
    // A signature does not cover the Content-Type. If signed JSON were read as a form, a field "payload" inside one of
    // its strings would count.
    const [[name, payload] = [], ...others] = new URLSearchParams(text);
    if (text.startsWith('payload=') && name === 'payload' && payload !== undefined && others.length === 0)
      return payload;
    throw new RequestError(
      'The body is a form. It must have one field, "payload", with the JSON. For a body in JSON, send "Content-Type: application/json".',
      { status: 400 },
    );
  }
  const message = `A webhook accepts JSON in UTF-8, such as "application/json", or a form with a field "payload", but the Content-Type was ${JSON.stringify(contentType.slice(0, 80))}.`;
  throw new RequestError(message, {
    status: 415,
    headers: { accept: 'application/json, application/x-www-form-urlencoded' },
  });
}

/** Headers that identify a delivery; the first one present counts. */
// GitLab's Idempotency-Key is the same in each retry. Its UUID header is shared by all events that a webhook's own
// effects cause.
const deliveryHeaders = [
  'webhook-id',
  'x-delivery-id',
  'x-github-delivery',
  'idempotency-key',
  'x-gitlab-event-uuid',
] as const;

function deliveryIdOf(request: RequestView): string | null {
  for (const name of deliveryHeaders) {
    const id = request.header(name)?.trim();
    if (id === undefined || id === '') continue;
    if (!/^[\x20-\x7e]{1,255}$/.test(id)) {
      throw new RequestError(`${name} must be 1 to 255 printable ASCII characters.`, { status: 400 });
    }
    return `${name}:${id}`;
  }
  return null;
}

const credentials: ReadonlySet<string> = new Set([
  ...secretHeaders,
  signatureHeader,
  'x-hub-signature',
  'authorization',
  'proxy-authorization',
  'cookie',
]);

const headersOf = (request: RequestView) =>
  Object.fromEntries([...request.headers()].filter(([name]) => !credentials.has(name)));
