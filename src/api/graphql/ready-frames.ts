/** A result as it goes to many sockets. */
export interface ReadyPayload {
  /** A whole text frame: these words, the result, and the brace that closes the message. */
  frameAfter(beginning: string): Buffer;
}

/** The first byte of a frame: the last one of its message, of text. */
const finalText = 0x81;
/** Lengths above these stand in two and in eight bytes of their own. */
const maxLength = { short: 125, medium: 0xffff } as const;
const brace = 0x7d;

/** Makes a result ready, given as JSON. */
export function createReadyPayload(json: string): ReadyPayload {
  const bytes = Buffer.from(json);
  // Clients count their operations alike: mostly the same frame goes to all.
  let last: { readonly beginning: string; readonly frame: Buffer } | null = null;
  return {
    frameAfter(beginning) {
      if (last?.beginning === beginning) return last.frame;
      const frame = frameOf(Buffer.from(beginning), bytes);
      last = { beginning, frame };
      return frame;
    },
  };
}

function frameOf(beginning: Buffer, bytes: Buffer): Buffer {
  const length = beginning.length + bytes.length + 1;
  const header = length <= maxLength.short ? 2 : length <= maxLength.medium ? 4 : 10;
  const frame = Buffer.allocUnsafeSlow(header + length);
  frame[0] = finalText;
  if (header === 2) frame[1] = length;
  else if (header === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  beginning.copy(frame, header);
  bytes.copy(frame, header + beginning.length);
  frame[header + length - 1] = brace;
  return frame;
}
