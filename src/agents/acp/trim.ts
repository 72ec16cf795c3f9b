/** The most items of a list, names of an object, levels and values in all that are kept of a message of an agent. */
const limits = { items: 1_000, names: 100, levels: 12, values: 20_000 } as const;
/** In what an agent tells while it works fewer values are of use, and nobody reads the raw input of its tools. */
const maxCallValues = 4_000;
const droppedFields = new Set(['rawInput']);
/** The values that are kept of a tool's raw output, which is shown where there is no other. They are counted apart. */
const maxRawOutputValues = 1_000;

/**
 * A message without what is more than anybody needs: what looks at it further on, the protocol's own checks above all, takes
 * time for each value. Strings are kept whole. Gives the message itself, changed.
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
      // Not by assignment: a field of the name "__proto__" would be no field.
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

/** Reads one line; null: it is no message of JSON-RPC 2.0. */
export function parseMessage(line: string): object | null {
  if (!line.trimStart().startsWith('{')) return null;
  try {
    const message = JSON.parse(line) as Record<string, unknown>;
    return message.jsonrpc === '2.0' && ('method' in message || 'id' in message) ? trimMessage(message) : null;
  } catch {
    return null;
  }
}

/** The most values, and levels, of a line: to read more takes many times the memory of the line itself. */
const parseLimits = { values: 1_000_000, levels: 1_000 } as const;
const [quote, backslash, comma] = [34, 92, 44];
const opening = new Set([91, 123]);
const closing = new Set([93, 125]);

/** Whether a line of JSON has more values, or nests deeper, than is read. Takes some 50 ms for 16 MB. */
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
