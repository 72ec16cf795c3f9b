/** A result as it goes to many sockets. */
export interface ReadyPayload {
  /** The bytes of a whole message: `beginning`, the result, and the brace that closes the message. */
  messageAfter(beginning: string): Buffer;
}

/** Makes a result ready, given as JSON. */
export function createReadyPayload(json: string): ReadyPayload {
  // Most clients number their operations alike: the same bytes go to all of them.
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
