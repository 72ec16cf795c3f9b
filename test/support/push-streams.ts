import fc from 'fast-check';

/** A pkt-line, as a generator of hostile streams writes it. */
const line = (text: string) =>
  Buffer.concat([Buffer.from((text.length + 4).toString(16).padStart(4, '0')), Buffer.from(text, 'latin1')]);

/** Ids for commands: those of real objects, if a test has them, and zero. */
export interface PushIds {
  readonly known: readonly string[];
}

const zero = '0'.repeat(40);
const ownRefs = ['refs/heads/switchyard/fix-ab12cd', 'refs/heads/switchyard/page-ab12cd', 'refs/heads/start'];
const otherRefs = [
  'refs/heads/main',
  'refs/heads/switchyard/fix-ab12ce',
  'refs/heads/switchyard/a/b-ab12cd',
  'refs/heads/switchyard/-ab12cd',
  'refs/tags/v1',
  'refs/for/main',
  'refs/heads/',
  'refs/heads/switchyard/..-ab12cd',
  'HEAD',
  'main',
  'refs/heads/start.lock',
  'refs/heads/start\n',
  'refs/heads/start ',
  'refs/heads/start\0refs/heads/main',
  'refs/heads/sta\u00adrt',
];
const capabilityLists = [
  ' report-status-v2 side-band-64k object-format=sha1 agent=git/2.39.5',
  'report-status',
  ' report-status push-options atomic',
  ' report-status-v2 side-band-64k push-options\n',
  'report-status push-options=1',
  ' report-status  push-options= ',
  '',
];

/** Generates the part of a push before its pack: mostly valid, with lines that lie or hide others. */
export function pushStreams({ known }: PushIds): fc.Arbitrary<Buffer> {
  const id = fc.constantFrom(zero, ...known);
  const ref = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...ownRefs) },
    { weight: 2, arbitrary: fc.constantFrom(...otherRefs) },
  );
  const ids = fc.oneof(
    { weight: 8, arbitrary: fc.tuple(id, fc.constantFrom(...known)) },
    { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...known), id) },
    { weight: 1, arbitrary: fc.tuple(id, id) },
  );
  const command = fc.tuple(ids, ref).map(([[oldId, newId], name]) => `${oldId} ${newId} ${name}`);
  const refOf = (text: string) => text.slice(82);
  const commandsOf = (minLength: number) =>
    fc.oneof(
      { weight: 8, arbitrary: fc.uniqueArray(command, { minLength, maxLength: 4, selector: refOf }) },
      { weight: 1, arbitrary: fc.array(command, { minLength, maxLength: 4 }) },
    );
  const hidden = command.map((text) => Buffer.concat([line(text)]).toString('latin1'));
  const noise = fc.oneof(
    fc.constantFrom(
      '',
      'push-cert',
      'push-cert-end\n',
      `shallow ${zero}`,
      'shallow',
      'ERR no',
      '\n',
      '\n\n',
      '0000',
      '\0',
      '-----BEGIN PGP SIGNATURE-----\n',
    ),
    hidden,
    fc.string({ maxLength: 8 }),
  );
  const caps = fc.constantFrom(...capabilityLists);
  const shallow = fc.constantFrom(`shallow ${known[0] ?? zero}`, `shallow ${zero}\n`);
  const plain = fc
    .tuple(fc.array(shallow, { maxLength: 1 }), commandsOf(1), caps, fc.constantFrom('', '\n'))
    .map(([before, commands, list, end]) =>
      [...before, ...commands.map((text, n) => (n === 0 ? `${text}\0${list}` : `${text}${end}`))].map(line),
    );
  const signed = fc
    .tuple(
      caps,
      commandsOf(0),
      fc.constantFrom('certificate version 0.1', 'certificate version 0.1', 'certificate version 0.2'),
      fc.array(noise, { maxLength: 1 }),
    )
    .map(([list, commands, version, extra]) =>
      [
        `push-cert\0${list}`,
        ...[version, 'pusher Ada <ada@example.com> 1 +0000', 'nonce 1-2', '', ...commands].map((text) => `${text}\n`),
        ...extra,
        '-----BEGIN PGP SIGNATURE-----\n',
        'abc\n',
        '-----END PGP SIGNATURE-----\n',
        'push-cert-end\n',
      ].map(line),
    );
  const options = fc.array(fc.constantFrom('ci.skip', 'ci.skip', 'merge_request.create', 'repo.private=false'), {
    maxLength: 2,
  });
  const ends = fc.oneof(
    { weight: 12, arbitrary: fc.constant('0000') },
    { weight: 1, arbitrary: fc.constantFrom('0001', '0002', '0003', '0004', '') },
  );
  /** A line that replaces another, is added, or has a false length. */
  const change = fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom('add', 'replace', 'lengthen', 'shorten', 'upper', 'drop'), fc.nat(8), noise),
    },
  );
  return fc
    .tuple(fc.oneof({ weight: 4, arbitrary: plain }, { weight: 1, arbitrary: signed }), options, ends, ends, change)
    .map(([lines, texts, firstEnd, secondEnd, changed]) => {
      const all = lines.map((each) => Buffer.from(each));
      if (changed !== null) {
        const [how, at, text] = changed;
        const n = at % all.length;
        const old = all[n] as Buffer;
        const lengthen = (by: number) => {
          const length = Math.max(0, Number.parseInt(old.toString('latin1', 0, 4), 16) + by);
          return Buffer.concat([Buffer.from(length.toString(16).padStart(4, '0')), old.subarray(4)]);
        };
        if (how === 'add') all.splice(n, 0, line(text));
        else if (how === 'replace') all[n] = line(text);
        else if (how === 'drop') all.splice(n, 1);
        else if (how === 'upper') all[n] = Buffer.from(old.toString('latin1').toUpperCase(), 'latin1');
        else all[n] = lengthen(how === 'lengthen' ? 5 : -3);
      }
      return Buffer.concat([
        ...all,
        Buffer.from(firstEnd),
        // Options without the capability are a part of the pack.
        ...(texts.length > 0 || lines.some((each) => each.includes('push-options'))
          ? [...texts.map(line), Buffer.from(secondEnd)]
          : []),
      ]);
    });
}

/** A command as git reads it. */
export interface SeenCommand {
  readonly oldId: string;
  readonly newId: string;
  readonly ref: string;
}

/**
 * Reads the commands of a push as git's own receive-pack does (`read_head_info` and `queue_commands_from_cert`), which is more
 * tolerant than the gateway. Null: git ends with an error.
 */
export function readLikeGit(bytes: Buffer): { commands: SeenCommand[]; options: string[] } | null {
  let at = 0;
  let hasOptions = false;
  const nextLine = (): string | 'flush' | null => {
    const digits = bytes.toString('latin1', at, at + 4);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) return null;
    const length = Number.parseInt(digits, 16);
    at += 4;
    if (length === 0 || length === 1 || length === 2) return 'flush';
    if (length < 4 || length > 65_520 || at + length - 4 > bytes.length) return null;
    at += length - 4;
    return bytes.toString('latin1', at - length + 4, at);
  };
  const commands: SeenCommand[] = [];
  const queue = (text: string): boolean => {
    const [, oldId = '', newId = '', ref = ''] = /^([0-9a-fA-F]{40}) ([0-9a-fA-F]{40}) ([\s\S]*)$/.exec(text) ?? [];
    if (oldId === '') return false;
    commands.push({ oldId: oldId.toLowerCase(), newId: newId.toLowerCase(), ref });
    return true;
  };
  let certificate = '';
  let isEnded = false;
  while (!isEnded) {
    const raw = nextLine();
    if (raw === null) return null;
    if (raw === 'flush') break;
    const text = raw.endsWith('\n') ? raw.slice(0, -1) : raw;
    if (text.startsWith('ERR ')) return null;
    if (text.length > 8 && text.startsWith('shallow ')) {
      if (!/^[0-9a-fA-F]{40}/.test(text.slice(8))) return null;
      continue;
    }
    const nul = text.indexOf('\0');
    const command = nul < 0 ? text : text.slice(0, nul);
    // Like `parse_feature_value`: a value makes no difference.
    if (nul >= 0) hasOptions ||= /(^|\s)push-options(=|\s|$)/.test(text.slice(nul + 1).split('\0', 1)[0] ?? '');
    if (command === 'push-cert') {
      for (;;) {
        const each = nextLine();
        if (each === null) return null;
        if (each === 'flush') {
          isEnded = true;
          break;
        }
        const upToNul = each.split('\0', 1)[0] ?? '';
        if (upToNul === 'push-cert-end\n') break;
        certificate += upToNul;
      }
      continue;
    }
    if (!queue(command)) return null;
  }
  if (certificate !== '') {
    const start = certificate.indexOf('\n\n');
    if (start < 0 || commands.length > 0) return null;
    let signature = certificate.length;
    for (const match of certificate.matchAll(
      /^-----BEGIN (PGP SIGNATURE|PGP MESSAGE|SIGNED MESSAGE|SSH SIGNATURE)-----/gm,
    ))
      signature = match.index;
    const body = certificate.slice(start + 2, Math.max(start + 2, signature));
    const lines = body.split('\n');
    if (lines.at(-1) === '') lines.pop();
    if (!lines.every(queue)) return null;
  }
  const options: string[] = [];
  while (hasOptions) {
    const raw = nextLine();
    if (raw === null) return null;
    if (raw === 'flush') break;
    options.push(raw.endsWith('\n') ? raw.slice(0, -1) : raw);
  }
  return { commands, options };
}
