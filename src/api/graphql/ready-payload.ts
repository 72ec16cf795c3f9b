/** A result that is sent to many sockets. */
export interface ReadyPayload {
  /** The bytes of a complete message: `beginning`, the result, and the closing brace. */
  messageAfter(beginning: string): Buffer;
}

/** Creates a payload from a result in JSON. */
export function createReadyPayload(json: string): ReadyPayload {
  // Most clients number their operations alike, so the same bytes go to all of them.
  let last: { readonly beginning: string; readonly message: Buffer } | null = null;
  return {
    messageAfter(beginning) {
      if (last?.beginning === beginning) return last.message;
      const message = Buffer.from(`${beginning}${json}}`);
      last = { beginning, message };
      return message;
    },
  };
}
