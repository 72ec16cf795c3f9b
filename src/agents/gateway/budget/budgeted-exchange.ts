import type { CallBudget, ProviderCredential } from '../../credential.ts';
import { describeFailure } from '../call-failures.ts';
import { createBudgetMeter } from '../call-meter.ts';
import {
  type AcceptedRequest,
  type Exchange,
  type GatewayParts,
  isCompressed,
  recordError,
  startExchange,
} from '../exchange.ts';
import { type RefusalStatus, refuse } from '../refusals.ts';
import { type CallPlan, planCall } from './call-plan.ts';
import { UnboundedCallError } from './members.ts';

/** The largest body of a call, and of all calls of a gateway that are held at the same time, in bytes. */
const [maxBytes, maxHeldBytes] = [16 * 1_048_576, 32 * 1_048_576];
/** The most objects, lists and items in a body: each takes time and memory. */
const maxItems = 1_000_000;

/**
 * Makes a call with a key that has a budget: reads the whole body, reserves the highest cost of the call, and sends the body
 * with what makes its cost visible. Refuses a call whose cost cannot be limited.
 */
export function startBudgetedExchange(
  parts: GatewayParts,
  credential: ProviderCredential,
  budget: CallBudget,
  request: AcceptedRequest,
): Exchange {
  const { incoming, outgoing, target } = request;
  const { api } = parts;
  const leaving = new AbortController();
  let exchange: Exchange | null = null;
  const stop = (status: RefusalStatus, message: string) => {
    if (!outgoing.destroyed && !outgoing.headersSent) refuse(outgoing, api, status, message);
  };

  let heldBytes = 0;
  const hold = (bytes: number) => {
    heldBytes += bytes;
    parts.held.bytes += bytes;
  };
  const plan = async (text: Buffer): Promise<CallPlan | null> => {
    const startedAt = performance.now();
    try {
      const planned = planCall(credential, api, target.pathname, text);
      if (planned !== null) return planned;
      recordError(parts, credential, 'PRICE_UNKNOWN');
      stop(403, describeFailure('PRICE_UNKNOWN', credential));
    } catch (error) {
      if (!(error instanceof UnboundedCallError)) throw error;
      const { label } = credential;
      stop(403, `${label.charAt(0).toUpperCase()}${label.slice(1)} has a budget: ${error.message}.`);
    } finally {
      await parts.pace.spend(performance.now() - startedAt);
    }
    return null;
  };
  const run = async () => {
    if (isCompressed(incoming))
      return stop(
        403,
        `The body of the call is compressed, which is not accepted because ${credential.label} has a budget.`,
      );
    const text = await readBody(parts, request, hold);
    if (!Buffer.isBuffer(text)) return stop(text.status, text.message);
    const planned = await plan(text);
    if (planned === null || leaving.signal.aborted) return;
    const found = await budget.reserve(planned.cost, leaving.signal);
    if (found === 'BUSY')
      return stop(429, `Other calls have reserved what is left of the budget of ${credential.label}.`);
    if ('refused' in found) return stop(found.refused === 'UNAVAILABLE' ? 502 : 403, found.message);
    if (leaving.signal.aborted || outgoing.destroyed) return found.settle(null);
    const body = planned.body(found);
    const meter = createBudgetMeter(credential, planned, { reservation: found, sentBytes: body.length });
    try {
      exchange = startExchange(parts, credential, { ...request, budgeted: { body, meter, stopped: found.stopped } });
    } catch (error) {
      meter.cancel();
      throw error;
    }
    release();
    await exchange.done;
  };
  const release = () => {
    parts.held.bytes -= heldBytes;
    heldBytes = 0;
  };
  const leave = () => {
    leaving.abort();
    exchange?.cut();
  };
  outgoing.once('close', leave);
  return {
    done: run()
      .catch(() => stop(400, 'The request cannot be forwarded.'))
      .finally(release),
    cut: leave,
    close() {
      leaving.abort();
      exchange?.close();
    },
  };
}

interface Refused {
  readonly status: RefusalStatus;
  readonly message: string;
}

// Resolves with the refusal of a body that is too large. Rejects if the agent leaves. `hold`: called with the bytes of each chunk.
function readBody(
  { held }: GatewayParts,
  { incoming }: AcceptedRequest,
  hold: (bytes: number) => void,
): Promise<Buffer | Refused> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    let items = 0;
    let isOver = false;
    const end = (act: () => void) => {
      if (isOver) return;
      isOver = true;
      act();
      chunks = [];
    };
    incoming.on('data', (chunk: Buffer) => {
      if (isOver) return;
      bytes += chunk.length;
      hold(chunk.length);
      chunks.push(chunk);
      items += countItems(chunk);
      if (bytes > maxBytes || items > maxItems) end(() => resolve({ status: 413, message: tooLarge }));
      else if (held.bytes > maxHeldBytes) end(() => resolve({ status: 429, message: tooMany }));
    });
    incoming.once('end', () => end(() => resolve(Buffer.concat(chunks))));
    incoming.once('close', () => end(() => reject(new Error('The agent disconnected.'))));
  });
}

// Of the commas and opening brackets: each is at most one value.
function countItems(chunk: Buffer): number {
  let items = 0;
  for (let at = 0; at < chunk.length; at++) {
    const byte = chunk[at];
    if (byte === 0x2c || byte === 0x5b || byte === 0x7b) items += 1;
  }
  return items;
}

const tooMany = 'The pending calls with a key that has a budget are too large in total. Retry when one has ended.';
const tooLarge = `The request is too large for a key with a budget: its body may take at most ${maxBytes} bytes, with ${maxItems} objects and items.`;
