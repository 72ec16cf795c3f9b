import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CommandListReader } from '../../../src/agents/git-gateway/command-list.ts';
import { PktLineReader, pktLine } from '../../../src/agents/git-gateway/pkt-line.ts';
import { canReport, createReportReader, encodeReport } from '../../../src/agents/git-gateway/push-report.ts';
import { refusedRefs } from '../../../src/agents/git-gateway/push-rules.ts';
import { minCpuTime } from '../../support/cpu-time.ts';
import { runs } from '../../support/property-runs.ts';
import { pushStreams, readLikeGit } from '../../support/push-streams.ts';

const limits = { maxCommands: 100, maxHeadBytes: 65_536 };
const [idA, idB, zero] = ['a'.repeat(40), 'b'.repeat(40), '0'.repeat(40)];
const rules = {
  branches: ['switchyard/*-ab12cd', 'start'],
  allowOtherBranches: false,
  allowTags: false,
  allowDeletions: false,
  pushOptions: ['ci.skip'],
};
const capabilities = 'report-status side-band-64k';

/** Reads a stream in chunks of these sizes, over and over. */
function read(stream: Buffer, sizes: readonly number[] = [stream.length || 1], bounds = limits) {
  const reader = new CommandListReader(bounds);
  let n = 0;
  for (let at = 0; at < stream.length; ) {
    const size = sizes[n++ % sizes.length] as number;
    const found = reader.take(stream.subarray(at, at + size));
    if (found !== null) return { found, reader };
    at += size;
  }
  return { found: reader.end(), reader };
}

const push = (...lines: string[]) => Buffer.concat([...lines.map((text) => pktLine(text)), Buffer.from('0000')]);

it('passes no ref outside the rules, however the stream is written', () => {
  const seen = { passed: 0, refused: 0, invalid: 0 };
  fc.assert(
    fc.property(
      pushStreams({ known: [idA, idB] }),
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 4 }),
      (stream, sizes) => {
        const { found } = read(stream, sizes);
        expect(read(stream).found).toEqual(found);
        if (found.type === 'invalid') return void seen.invalid++;
        const asGit = readLikeGit(stream);
        const commands = found.commands.map(({ ref, oldId, newId }) => ({
          ref,
          oldId: oldId ?? zero,
          newId: newId ?? zero,
        }));
        // The gateway answers a push without commands itself, also one that git would not read to its end.
        expect(asGit?.commands ?? []).toEqual(commands);
        if (commands.length > 0) expect(found.options).toEqual(expect.arrayContaining(asGit?.options ?? []));
        if (refusedRefs(found, rules) !== null) return void seen.refused++;
        seen.passed++;
        for (const { ref, newId } of asGit?.commands ?? []) {
          expect(ref).toMatch(/^refs\/heads\/(switchyard\/[^/]+-ab12cd|start)$/);
          expect(newId).not.toBe(zero);
        }
        for (const option of found.options) expect(option).toBe('ci.skip');
      },
    ),
    runs(1_000),
  );
  // The generator reaches all three.
  expect(Math.min(seen.passed, seen.refused, seen.invalid)).toBeGreaterThan(50);
});

it('never throws and buffers a bounded number of bytes for arbitrary bytes', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 }), (chunks) => {
      const reader = new CommandListReader({ maxCommands: 3, maxHeadBytes: 300 });
      for (const chunk of chunks) reader.take(Buffer.from(chunk));
      expect(reader.bytes().length).toBeLessThanOrEqual(500);
      expect(['head', 'invalid']).toContain(reader.end().type);
    }),
    runs(500),
  );
});

it('reads pkt-lines in any chunks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 10 }),
      fc.integer({ min: 1, max: 7 }),
      (texts, size) => {
        const stream = push(...texts);
        const reader = new PktLineReader();
        const found: (string | null)[] = [];
        for (let at = 0; at < stream.length; at += size) {
          reader.take(stream.subarray(at, at + size));
          for (let line = reader.next(); line !== null; line = reader.next())
            found.push(line.type === 'data' ? line.payload.toString() : line.type === 'flush' ? null : 'invalid');
        }
        expect(found).toEqual([...texts, null]);
      },
    ),
    runs(200),
  );
});

it('takes a megabyte in chunks of one byte in linear time', async () => {
  const listOf = (count: number) =>
    Buffer.concat([
      pktLine(`${zero} ${idA} refs/heads/x\0${capabilities}`),
      ...Array.from({ length: count }, (_, n) => pktLine(`${zero} ${idA} refs/heads/b${n}`)),
    ]);
  const read = (list: Buffer) => {
    const reader = new CommandListReader({ maxCommands: 100_000, maxHeadBytes: 1_048_576 });
    for (let at = 0; at < list.length; at++) reader.take(list.subarray(at, at + 1));
    return reader.end();
  };
  const [quarter, one] = [listOf(3_000), listOf(12_000)];
  expect(one.length).toBeGreaterThan(1_048_576);
  expect(read(one)).toMatchObject({ type: 'invalid', reason: 'The push cannot be read. It has too many commands.' });
  // Four times as much; quadratic time would be sixteen times as much.
  const [short, long] = [await minCpuTime(() => read(quarter)), await minCpuTime(() => read(one))];
  expect(long).toBeLessThan(Math.max(short, 20) * 10);
});

const first = `${zero} ${idA} refs/heads/start\0 ${capabilities}`;

it.each([
  { what: 'a ref twice', stream: push(first, `${zero} ${idA} refs/heads/start`), reason: 'It names a ref twice.' },
  { what: 'no capabilities', stream: push(`${zero} ${idA} refs/heads/start`), reason: 'It has no capabilities.' },
  {
    what: 'an invalid ref',
    stream: push(first, `${zero} ${idA} refs/heads/a..b`),
    reason: 'A command does not name a valid ref.',
  },
  { what: 'no change', stream: push(first, `${zero} ${zero} refs/heads/b`), reason: 'A command changes nothing.' },
  {
    what: 'ids of two hashes',
    stream: push(first, `${zero} ${'a'.repeat(64)} refs/heads/b`),
    reason: 'A command is malformed.',
  },
  {
    what: 'a delimiter packet',
    stream: Buffer.concat([pktLine(first), Buffer.from('0001')]),
    reason: 'A length is not allowed.',
  },
  {
    what: 'an upper-case length',
    stream: Buffer.concat([Buffer.from('00A0'), Buffer.alloc(200)]),
    reason: 'A length is not four hexadecimal digits.',
  },
  { what: 'a length beyond the maximum', stream: Buffer.from('fff1'), reason: 'A length is not allowed.' },
  {
    what: 'an end in the middle',
    stream: push(first).subarray(0, 30),
    reason: 'It ends before its list of commands does.',
  },
  {
    what: 'bytes that are not text',
    stream: Buffer.concat([pktLine(Buffer.from([0xff, 0xfe]))]),
    reason: 'A line is not UTF-8.',
  },
  {
    what: 'a value of a capability that has none',
    stream: Buffer.concat([
      push(`${zero} ${idA} refs/heads/start\0report-status push-options=1`),
      push('merge_request.create'),
    ]),
    reason: 'A capability has a value that git does not send.',
  },
  { what: 'shallow after commands', stream: push(first, `shallow ${idA}`), reason: 'A command is malformed.' },
  {
    what: 'a certificate without end',
    stream: push(`push-cert\0${capabilities}`, 'certificate version 0.1\n'),
    reason: 'Its certificate does not end.',
  },
  {
    what: 'two lines in one',
    stream: push(`push-cert\0${capabilities}`, 'certificate version 0.1\nnonce a\n'),
    reason: 'Its certificate is malformed.',
  },
])('refuses to read a push with $what', ({ stream, reason }) => {
  expect(read(stream).found).toMatchObject({ type: 'invalid', reason: `The push cannot be read. ${reason}` });
});

it('reads shallow lines, options and deletions', () => {
  const stream = Buffer.concat([
    push(`shallow ${idA}`, `${idA} ${zero} refs/heads/start\0report-status push-options`),
    push('ci.skip', 'ci.variable=a=b'),
    Buffer.from('PACK'),
  ]);
  const { found, reader } = read(stream, [7]);
  expect(found).toMatchObject({
    commands: [{ ref: 'refs/heads/start', oldId: idA, newId: null }],
    options: ['ci.skip', 'ci.variable=a=b'],
    bytes: stream.length - 4,
  });
  expect(reader.bytes().length).toBeGreaterThanOrEqual(stream.length - 4);
});

it('reads the commands of a signed push', () => {
  const lines = [
    'certificate version 0.1',
    'pusher Ada <a@example.com> 1 +0000',
    'pushee https://forge/site.git',
    'nonce 1-2',
    'push-option ci.skip',
    '',
    `${zero} ${idA} refs/heads/start`,
    '-----BEGIN SSH SIGNATURE-----',
    'abc',
    '-----END SSH SIGNATURE-----',
    'push-cert-end',
  ];
  const { found } = read(push(`push-cert\0${capabilities}`, ...lines.map((each) => `${each}\n`)));
  expect(found).toMatchObject({
    isSigned: true,
    options: ['ci.skip'],
    commands: [{ ref: 'refs/heads/start', oldId: null, newId: idA }],
  });
});

it.each([
  { pattern: 'start', branch: 'start', is: true },
  { pattern: 'start', branch: 'Start', is: false },
  { pattern: 'start', branch: 'start/a', is: false },
  { pattern: 'switchyard/*-ab12cd', branch: 'switchyard/a-b-ab12cd', is: true },
  { pattern: 'switchyard/*-ab12cd', branch: 'switchyard/-ab12cd', is: false },
  { pattern: 'switchyard/*-ab12cd', branch: 'switchyard/a/b-ab12cd', is: false },
  { pattern: 'switchyard/*-ab12cd', branch: 'switchyard/a-ab12cd-ab12cd', is: true },
  { pattern: '*', branch: 'main', is: true },
  { pattern: '*/*', branch: 'main', is: false },
  { pattern: 'a*b*c', branch: 'axbbyc', is: true },
  { pattern: 'a*b*c', branch: 'abc', is: false },
  { pattern: 'a.c', branch: 'abc', is: false },
])('matches $branch with $pattern: $is', ({ pattern, branch, is }) => {
  const { found } = read(push(`${zero} ${idA} refs/heads/${branch}\0${capabilities}`));
  if (found.type === 'invalid') throw new Error(found.reason);
  expect(refusedRefs(found, { ...rules, branches: [pattern] }) === null).toBe(is);
});

it('encodes reports that its own reader understands', () => {
  const names = fc.uniqueArray(
    fc.integer({ min: 0, max: 10_000 }).map((n) => `refs/heads/${'x'.repeat(n % 300)}${n}`),
    { maxLength: 400 },
  );
  fc.assert(
    fc.property(
      names,
      fc.constantFrom('report-status', 'report-status side-band-64k'),
      fc.integer({ min: 1, max: 900 }),
      (refs, list, size) => {
        const set = new Set(list.split(' '));
        expect(canReport(set)).toBe(true);
        const bytes = encodeReport(set, {
          unpackError: null,
          refs: refs.map((ref) => ({ ref, reason: 'not here' })),
          messages: ['No.'],
        });
        const reader = createReportReader(set);
        for (let at = 0; at < bytes.length; at += size) reader.take(bytes.subarray(at, at + size));
        expect([...reader.outcomes()]).toEqual(refs.map((ref) => [ref, { isOk: false, reason: 'not here' }]));
      },
    ),
    runs(30),
  );
});
