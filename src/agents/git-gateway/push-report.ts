import { flushPkt, type PktLine, PktLineReader, pktLine } from './pkt-line.ts';
import type { RefusedRef } from './push-rules.ts';

/** The maximum amount of data in one packet of a side band. */
const maxBandBytes = 65_515;
/** The maximum size of a forge's report that is read, in bytes. */
const maxReportBytes = 1_048_576;

/** A refusal of a push, in git's terms. */
export interface PushRefusal {
  /** The reason against the whole push; null: only refs are refused. */
  readonly unpackError: string | null;
  readonly refs: readonly RefusedRef[];
  /** Lines that git shows behind "remote:". */
  readonly messages: readonly string[];
}

/** Tells if git shows a report to its user. */
export function canReport(capabilities: ReadonlySet<string>): boolean {
  return capabilities.has('report-status') || capabilities.has('report-status-v2');
}

/** Encodes the response of git-receive-pack to a refused push. */
export function encodeReport(capabilities: ReadonlySet<string>, { unpackError, refs, messages }: PushRefusal): Buffer {
  const report = Buffer.concat([
    pktLine(`unpack ${unpackError ?? 'ok'}\n`),
    ...refs.map(({ ref, reason }) => pktLine(`ng ${ref} ${reason}\n`)),
    flushPkt,
  ]);
  if (!capabilities.has('side-band-64k')) return report;
  const texts = messages.map((message) => band(2, Buffer.from(`${message}\n`)));
  return Buffer.concat([...texts.flat(), ...band(1, report), flushPkt]);
}

function band(number: 1 | 2, data: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < data.length; at += maxBandBytes)
    parts.push(pktLine(Buffer.concat([Buffer.of(number), data.subarray(at, at + maxBandBytes)])));
  return parts;
}

/** The forge's outcome for one ref; `reason` is null for `ok`. */
export interface RefOutcome {
  readonly isOk: boolean;
  readonly reason: string | null;
}

/** Reads the forge's report on a push, in chunks. Never throws. */
export interface ReportReader {
  take(chunk: Buffer): void;
  /** Outcomes by the refs' names, as far as they could be read. */
  outcomes(): ReadonlyMap<string, RefOutcome>;
}

/** Creates a reader. It gives up after {@link maxReportBytes} or a malformed line, with the outcomes so far. */
export function createReportReader(capabilities: ReadonlySet<string>): ReportReader {
  const found = new Map<string, RefOutcome>();
  const takeReport = createLineReader((payload) => {
    const [, status, ref, reason = null] = /^(ok|ng) (\S+)(?: (.*))?\n?$/.exec(payload.toString('utf8')) ?? [];
    if (status !== undefined && ref !== undefined) found.set(ref, { isOk: status === 'ok', reason });
  });
  const takeBands = createLineReader((payload) => {
    if (payload[0] === 1) takeReport(payload.subarray(1));
  });
  const take = capabilities.has('side-band-64k') ? takeBands : takeReport;
  return { take, outcomes: () => found };
}

// Each line is read once and then forgotten: progress messages of a long push do not add up.
function createLineReader(onData: (payload: Buffer) => void): (chunk: Buffer) => void {
  let lines: PktLineReader | null = new PktLineReader();
  let total = 0;
  return (chunk) => {
    if (lines === null) return;
    lines.take(chunk);
    let line: PktLine | null = null;
    for (line = lines.next(); line !== null && line.type !== 'invalid'; line = lines.next()) {
      if (line.type === 'data') onData(line.payload);
    }
    total += chunk.length;
    const rest = Buffer.from(lines.bytes().subarray(lines.readBytes));
    lines = line?.type === 'invalid' || total > maxReportBytes ? null : new PktLineReader();
    lines?.take(rest);
  };
}
