import { networkOf } from '../../domain/limits/network.ts';
import { RequestError } from './refusal.ts';

/** Limits on the memory for bodies of senders that are not authenticated yet. */
export interface UnprovenLimits {
  /** The limit of this process. */
  readonly maxBytes: number;
  /** The limit of one address (for IPv6, one /64), so that one sender cannot block the others. */
  readonly maxBytesPerAddress: number;
}

/** 64 MiB in total, 16 MiB per address. */
export const defaultUnprovenLimits: UnprovenLimits = {
  maxBytes: 64 * 1_048_576,
  maxBytesPerAddress: 16 * 1_048_576,
};

/** The counted bytes of one body, until they are released. */
export interface UnprovenBody {
  /** Counts received bytes. 503 with Retry-After beyond a limit. */
  add(count: number): void;
  release(): void;
}

/** Returns a function that starts to count the bytes of one body. All bodies together stay within the limits. */
export function limitUnprovenBytes(limits: UnprovenLimits): (address: string | null) => UnprovenBody {
  let total = 0;
  const byNetwork = new Map<string, number>();
  return (address) => {
    const network = networkOf(address ?? '');
    let own = 0;
    return {
      add(count) {
        const ofNetwork = (byNetwork.get(network) ?? 0) + count;
        const isTooMuch = total + count > limits.maxBytes || ofNetwork > limits.maxBytesPerAddress;
        if (isTooMuch) throw tooMuchInFlight();
        total += count;
        own += count;
        byNetwork.set(network, ofNetwork);
      },
      release() {
        const left = (byNetwork.get(network) ?? 0) - own;
        total -= own;
        own = 0;
        if (left > 0) byNetwork.set(network, left);
        else byNetwork.delete(network);
      },
    };
  };
}

// The rest of the body is not read, so the connection cannot be reused.
const tooMuchInFlight = () =>
  new RequestError('Too many signed webhooks are arriving at once. Wait and try again.', {
    status: 503,
    headers: { 'retry-after': '5', connection: 'close' },
  });
