import type { Readable } from 'node:stream';

/** A tool as offered to a model. */
export interface ShownTool {
  readonly name: string;
  readonly description: string;
}

/** Limits on the buffered bytes of calls. */
export interface ToolReaderLimits {
  readonly maxCallBytes: number;
  /** The limit of all calls that are read at the same time. */
  readonly maxTotalBytes: number;
}

const defaultLimits: ToolReaderLimits = { maxCallBytes: 8 * 1_048_576, maxTotalBytes: 16 * 1_048_576 };

/** Reads the tools that calls offer to the model. */
export interface ToolReader {
  /** Reads one call. Reports no tools for a call that is not JSON, is incomplete, or exceeds the limits. */
  read(incoming: Readable): void;
  /** The number of buffered bytes. */
  bufferedBytes(): number;
}

/** Creates a reader for the calls of one run; `onTools` is called once for each call that could be read completely. */
export function createToolReader(
  onTools: (tools: readonly ShownTool[]) => void,
  { maxCallBytes, maxTotalBytes }: ToolReaderLimits = defaultLimits,
): ToolReader {
  let totalBytes = 0;
  return {
    bufferedBytes: () => totalBytes,
    read(incoming) {
      let chunks: Buffer[] | null = [];
      let bytes = 0;
      const forget = () => {
        totalBytes -= bytes;
        bytes = 0;
        chunks = null;
      };
      incoming.on('data', (chunk: Buffer) => {
        if (chunks === null) return;
        bytes += chunk.length;
        totalBytes += chunk.length;
        if (bytes > maxCallBytes || totalBytes > maxTotalBytes) forget();
        else chunks.push(chunk);
      });
      incoming.once('end', () => {
        const body = chunks === null ? null : Buffer.concat(chunks).toString('utf8');
        forget();
        if (body !== null) onTools(toolsIn(body));
      });
      incoming.once('close', forget);
    },
  };
}

interface Described {
  readonly name?: unknown;
  readonly description?: unknown;
  /** OpenAI's chat completions. */
  readonly function?: Described;
  /** Gemini; others group tools in the same way. */
  readonly functionDeclarations?: readonly Described[];
  readonly tools?: readonly Described[];
}

function toolsIn(body: string): ShownTool[] {
  try {
    const { tools } = JSON.parse(body) as { tools?: readonly Described[] };
    return (tools ?? []).flatMap(shownIn);
  } catch {
    return [];
  }
}

function shownIn(each: Described): ShownTool[] {
  const group = each.functionDeclarations ?? each.tools;
  if (group) return group.flatMap(shownIn);
  const { name, description } = each.function ?? each;
  return typeof name === 'string' ? [{ name, description: typeof description === 'string' ? description : '' }] : [];
}
