import { open } from 'node:fs/promises';

/** The end of a log that is read, and the number of its lines that are kept. */
const readBytes = 262_144;
const keptLines = 200;
const maxMessage = 500;

/** Names of fields whose text is a name or an id, never a text of a user. */
const plainField = /^(?:(?:\w*Id|id|code|type|status|statusCode|database|sandbox|method|route|reason|version))$/;
const plainText = /^[\w.:-]{1,64}$/;

/** The redacted end of a log. */
export interface LogEnd {
  readonly lines: readonly Record<string, unknown>[];
  /** The number of lines that are not JSON, such as the text of the first start. They are left out. */
  readonly leftOut: number;
}

/** Reads the last lines of a file with the log of the service. Of each line only fields are kept that have no text of users. */
export async function readLogEnd(path: string): Promise<LogEnd> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - readBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, readBytes)), 0, undefined, start);
    const all = buffer.subarray(0, bytesRead).toString('utf8').split('\n');
    // The first line may be a part of one.
    const whole = (start === 0 ? all : all.slice(1)).filter((line) => line.trim() !== '').slice(-keptLines);
    const lines = whole.map(redactLine).filter((line) => line !== null);
    return { lines, leftOut: whole.length - lines.length };
  } finally {
    await file.close();
  }
}

function redactLine(line: string): Record<string, unknown> | null {
  const fields = parseObject(line);
  if (fields === null || typeof fields.msg !== 'string') return null;
  const kept = Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'msg') return [[name, String(value).slice(0, maxMessage)]];
    if (name === 'err') return [[name, redactError(value)]];
    const isPlain = typeof value === 'string' && plainField.test(name) && plainText.test(value);
    return isPlain || typeof value === 'number' || typeof value === 'boolean' ? [[name, value]] : [];
  });
  return Object.fromEntries(kept);
}

// The message of an error may repeat a value of a user; its type, its code and the stack say where it happened.
function redactError(value: unknown): Record<string, unknown> {
  const { type, code, stack } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const frames = typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s+at /.test(line)) : [];
  return { type, code, stack: frames.map((line) => line.trim()) };
}

function parseObject(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
