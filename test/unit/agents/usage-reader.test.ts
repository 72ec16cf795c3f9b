import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { providerApis } from '../../../src/agents/gateway/providers.ts';
import { createToolReader, type ShownTool } from '../../../src/agents/gateway/tool-reader.ts';
import { createUsageReader } from '../../../src/agents/gateway/usage-reader.ts';
import { maxUsageBytes } from '../../../src/agents/gateway/usage-scanner.ts';
import { runs } from '../../support/property-runs.ts';

const { readUsage } = providerApis.openai;
const nothing = { inputTokens: null, outputTokens: null, cachedTokens: null };
const usage = { prompt_tokens: 7, completion_tokens: 3 };
const counted = { inputTokens: 7, outputTokens: 3, cachedTokens: null };

// Reads a text in chunks of so many bytes, and counts how often a byte is looked at and how much is kept.
const read = (text: string | Buffer, isStream: boolean, chunkBytes = 65_536) => {
  const reader = createUsageReader(isStream, readUsage);
  const bytes = Buffer.from(text);
  let byteReads = 0;
  let maxBuffered = 0;
  const watched = (chunk: Uint8Array) =>
    new Proxy(chunk, {
      get(target, name) {
        if (typeof name === 'string' && /^\d+$/.test(name)) byteReads++;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    reader.take(watched(bytes.subarray(at, at + chunkBytes)));
    maxBuffered = Math.max(maxBuffered, reader.bufferedBytes());
  }
  return { total: reader.total(), byteReads, maxBuffered, bytes: bytes.length };
};

const long = 'x"\\\n'.repeat(250_000);
it.each([
  {
    what: 'one JSON text with its usage at its end',
    text: JSON.stringify({ choices: [{ text: long }], usage }),
    counts: counted,
  },
  {
    what: 'one with its usage at its beginning',
    text: JSON.stringify({ usage, choices: [{ text: long }] }),
    counts: counted,
  },
  { what: 'one with its usage in the middle', text: JSON.stringify({ a: long, usage, b: long }), counts: counted },
  { what: 'a usage without an end', text: `{"usage":{"a":"${'x'.repeat(1_000_000)}`, counts: nothing },
  { what: 'nothing but brackets', text: '[{"usage":'.repeat(100_000), counts: nothing },
  { what: 'nothing but quotes', text: '"'.repeat(1_000_000), counts: nothing },
  { what: 'nothing but backslashes', text: `{"usage":"${'\\'.repeat(1_000_000)}`, counts: nothing },
])('reads each byte once, and stores no more than one usage, of $what', ({ text, counts }) => {
  for (const chunkBytes of [7, 65_536]) {
    const { total, byteReads, maxBuffered, bytes } = read(text, false, chunkBytes);
    expect(total).toEqual(counts);
    expect(byteReads).toBe(bytes);
    expect(maxBuffered).toBeLessThanOrEqual(maxUsageBytes);
  }
});

it.each([
  { what: 'a line without an end', text: `data: {"a":"${'x'.repeat(1_000_000)}`, counts: nothing },
  { what: 'bytes without any line', text: 'x'.repeat(1_000_000), counts: nothing },
  {
    what: 'a long line before the usage',
    text: `data: {"a":"${'x'.repeat(1_000_000)}"}\n\ndata: ${JSON.stringify({ usage })}\n\n`,
    counts: counted,
  },
  { what: 'a long line with the usage', text: `data: ${JSON.stringify({ a: long, usage })}\n\n`, counts: counted },
  {
    what: 'a broken event before the usage',
    text: `data: {"a":"b\n\ndata: ${JSON.stringify({ usage })}\n\n`,
    counts: counted,
  },
  { what: 'nothing but line ends', text: '\n\r'.repeat(500_000), counts: nothing },
  { what: 'nothing but empty events', text: 'data:\n\n'.repeat(100_000), counts: nothing },
])('reads each byte of a stream once, and stores no more than one usage, of $what', ({ text, counts }) => {
  for (const chunkBytes of [7, 65_536]) {
    const { total, byteReads, maxBuffered, bytes } = read(text, true, chunkBytes);
    expect(total).toEqual(counts);
    expect(byteReads).toBe(bytes);
    expect(maxBuffered).toBeLessThanOrEqual(maxUsageBytes);
  }
});

const tokens = fc.record(
  {
    prompt_tokens: fc.nat(),
    completion_tokens: fc.nat(),
    prompt_tokens_details: fc.record({ cached_tokens: fc.nat() }),
  },
  { requiredKeys: [] },
);
/** Documents with usage where providers put it, and where a model's text may contain it. */
const documents = fc
  .record(
    {
      id: fc.string(),
      content: fc.jsonValue(),
      choices: fc.array(fc.record({ usage: fc.oneof(tokens, fc.jsonValue()), message: fc.record({ usage: tokens }) })),
      text: fc.constantFrom('"usage":{"prompt_tokens":9}', '\\"usage":', '"usage"', '{"usage":', '}]}', 'é😀\u2028'),
      message: fc.oneof(fc.string(), fc.array(fc.record({ usage: tokens })), fc.record({ content: fc.jsonValue() })),
      usage: fc.oneof(tokens, fc.constant(null)),
      response: fc.record({ output: fc.jsonValue(), usage: tokens }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  )
  .chain((document) => fc.shuffledSubarray(Object.entries(document), { minLength: Object.keys(document).length }))
  .map((entries) => Object.fromEntries(entries));

// The expected value from the complete text parsed by JSON.parse: of several, the larger numbers count.
const expected = (all: readonly Record<string, unknown>[]) => {
  const used = all.flatMap((document) => {
    const inside = document.response as { usage?: unknown } | undefined;
    return [{ usage: document.usage }, { usage: inside?.usage }].flatMap((each) => readUsage(each) ?? []);
  });
  const maxOf = (name: keyof typeof nothing) => {
    const figures = used.flatMap((each) => each[name] ?? []);
    return figures.length === 0 ? null : Math.max(...figures);
  };
  return {
    inputTokens: maxOf('inputTokens'),
    outputTokens: maxOf('outputTokens'),
    cachedTokens: maxOf('cachedTokens'),
  };
};

const cuts = (bytes: Buffer) => fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 });
const readCut = (bytes: Buffer, isStream: boolean, offsets: readonly number[]) => {
  const reader = createUsageReader(isStream, readUsage);
  const at = [0, ...offsets.toSorted((a, b) => a - b), bytes.length];
  for (let n = 1; n < at.length; n++) reader.take(bytes.subarray(at[n - 1], at[n]));
  return reader.total();
};

it('finds the same as JSON.parse in any JSON text, wherever the chunks end', () => {
  const texts = fc.tuple(fc.array(documents, { minLength: 1, maxLength: 3 }), fc.boolean(), fc.constantFrom(0, 1, 4));
  fc.assert(
    fc.property(
      texts.chain(([all, isArray, space]) => {
        const some = isArray ? all : all.slice(0, 1);
        const bytes = Buffer.from(JSON.stringify(isArray ? some : some[0], null, space));
        return fc.tuple(fc.constant(some), fc.constant(bytes), cuts(bytes));
      }),
      ([all, bytes, offsets]) => {
        expect(readCut(bytes, false, offsets)).toEqual(expected(all));
      },
    ),
    runs(500),
  );
});

it('finds it in any event stream, with any line ends and chunks', () => {
  const streams = fc.tuple(
    fc.array(documents, { maxLength: 4 }),
    fc.constantFrom('\n', '\r\n', '\r'),
    fc.constantFrom(0, 2),
  );
  fc.assert(
    fc.property(
      streams.chain(([all, newline, space]) => {
        const events = all.map((document) => {
          const lines = JSON.stringify(document, null, space).split('\n');
          return [`: ${JSON.stringify({ usage })}`, 'event: x', ...lines.map((line) => `data: ${line}`), '', ''].join(
            newline,
          );
        });
        const bytes = Buffer.from(`${events.join('')}data: [DONE]${newline}${newline}`);
        return fc.tuple(fc.constant(all), fc.constant(bytes), cuts(bytes));
      }),
      ([all, bytes, offsets]) => {
        expect(readCut(bytes, true, offsets)).toEqual(expected(all));
      },
    ),
    runs(500),
  );
});

it('counts what Gemini’s tools add to the prompt', () => {
  const text = '{"usageMetadata":{"promptTokenCount":5,"toolUsePromptTokenCount":100,"candidatesTokenCount":2}}';
  const reader = createUsageReader(false, providerApis.gemini.readUsage);
  reader.take(Buffer.from(text));
  expect(reader.total()).toEqual({ inputTokens: 105, outputTokens: 2, cachedTokens: null });
});

it('reads the first event of a stream after a byte order mark, wherever the chunks end', () => {
  const text = `\ufeffdata: ${JSON.stringify({ usage })}\n\n`;
  for (const chunkBytes of [1, 2, 3, 65_536]) expect(read(text, true, chunkBytes).total).toEqual(counted);
});

it('accepts any bytes in any chunks', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each)),
    fc
      .array(fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', '"usage"', '"message"', '1', '\n', '\r', 'data:'))
      .map((parts) => Buffer.from(parts.join(''))),
  );
  fc.assert(
    fc.property(
      bytes.chain((each) => fc.tuple(fc.constant(each), cuts(each))),
      fc.boolean(),
      ([each, offsets], isStream) => {
        expect(readCut(each, isStream, offsets)).toEqual(readCut(each, isStream, []));
      },
    ),
    runs(1_000),
  );
});

it('stores calls up to its limits, and shows the tools of those that fit', () => {
  const shown: (readonly ShownTool[])[] = [];
  const reader = createToolReader((tools) => shown.push(tools), { maxCallBytes: 100, maxTotalBytes: 150 });
  const calls = [new PassThrough(), new PassThrough(), new PassThrough()] as const;
  for (const call of calls) reader.read(call);
  const put = (call: PassThrough, text: string) => call.emit('data', Buffer.from(text));
  const tool = '{"tools":[{"name":"a"}]}';
  put(calls[0], 'x'.repeat(99));
  put(calls[1], tool);
  expect(reader.bufferedBytes()).toBe(99 + tool.length);
  put(calls[0], 'xx');
  expect(reader.bufferedBytes()).toBe(tool.length);
  for (let n = 0; n < 100; n++) put(calls[0], 'x'.repeat(99));
  expect(reader.bufferedBytes()).toBe(tool.length);
  put(calls[2], 'x'.repeat(90));
  put(calls[2], 'x');
  for (const call of calls) call.emit('end');
  expect(shown).toEqual([[{ name: 'a', description: '' }], []]);
  expect(reader.bufferedBytes()).toBe(0);
});

it('forgets an incomplete call', () => {
  const shown: (readonly ShownTool[])[] = [];
  const reader = createToolReader((tools) => shown.push(tools));
  const call = new PassThrough();
  reader.read(call);
  call.emit('data', Buffer.from('{"tools":['));
  call.emit('close');
  expect(reader.bufferedBytes()).toBe(0);
  expect(shown).toEqual([]);
});
