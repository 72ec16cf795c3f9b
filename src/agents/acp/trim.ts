/** The maximum number of list items, object members, levels and total values that are kept of an agent's message. */
const limits = { items: 1_000, names: 100, levels: 12, values: 20_000 } as const;
/** Progress messages need fewer values, and nothing reads the raw input of tools. */
const maxCallValues = 4_000;
const droppedFields = new Set(['rawInput']);
/**
 * The number of values that are kept of a tool's raw output, which is shown if there is no other. They are counted
 * separately.
 */
const maxRawOutputValues = 1_000;

/**
 * Removes excess values from a message: later processing, above all the protocol's own checks, takes time for each
 * value. Strings are kept complete. Changes and returns the message itself.
 */
export function trimMessage<T>(message: T): T {
  const isCall = typeof message === 'object' && message !== null && 'method' in message;
  let left: number = isCall ? maxCallValues : limits.values;
  const trim = (value: unknown, level: number): unknown => {
    if (value === null || typeof value !== 'object') return value;
    if (level > limits.levels) return null;
    if (Array.isArray(value)) {
      if (value.length > limits.items) value.length = limits.items;
      for (let n = 0; n < value.length; n++) {
        if (--left < 0) value.length = n;
        else value[n] = trim(value[n], level + 1);
      }
      return value;
    }
    return trimFields(value as Record<string, unknown>, level);
  };
  const trimFields = (fields: Record<string, unknown>, level: number) => {
    const trimmed: Record<string, unknown> = {};
    let names = 0;
    for (const name in fields) {
      if (++names > limits.names || left <= 0) break;
      if (isCall && droppedFields.has(name)) continue;
      left--;
      const isApart = isCall && name === 'rawOutput';
      const rest = left;
      if (isApart) left = maxRawOutputValues;
      const value = trim(fields[name], level + 1);
      if (isApart) left = rest;
      // Not by assignment, which would not create a member named "__proto__".
      Object.defineProperty(trimmed, name, {
        value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return trimmed;
  };
  return trim(message, 0) as T;
}

/** Parses one line; null if it is no JSON-RPC 2.0 message. */
export function parseMessage(line: string): object | null {
  if (!line.trimStart().startsWith('{')) return null;
  try {
    const message = JSON.parse(line) as Record<string, unknown>;
    return message.jsonrpc === '2.0' && ('method' in message || 'id' in message) ? trimMessage(message) : null;
  } catch {
    return null;
  }
}

/** The maximum number of values and levels of a line: parsing more takes many times the memory of the line itself. */
const parseLimits = { values: 1_000_000, levels: 1_000 } as const;
const [quote, backslash, comma] = [34, 92, 44];
const opening = new Set([91, 123]);
const closing = new Set([93, 125]);

/** Returns true if a line of JSON exceeds {@link parseLimits}. Takes about 50 ms for 16 MB. */
export function isTooComplex(line: Uint8Array): boolean {
  let values = 0;
  let depth = 0;
  for (let n = 0; n < line.length; n++) {
    const byte = line[n] as number;
    if (byte === quote) {
      n = endOfString(line, n + 1);
    } else if (byte === comma) {
      values++;
    } else if (opening.has(byte)) {
      values++;
      if (++depth > parseLimits.levels) return true;
    } else if (closing.has(byte)) {
      depth--;
    }
    if (values > parseLimits.values) return true;
  }
  return false;
}

function endOfString(line: Uint8Array, from: number): number {
  let at = from;
  while (at < line.length && line[at] !== quote) at += line[at] === backslash ? 2 : 1;
  return at;
}
