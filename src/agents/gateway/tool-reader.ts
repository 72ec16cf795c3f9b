import type { IncomingMessage } from 'node:http';

/** A tool as a model is shown it. */
export interface ShownTool {
  readonly name: string;
  readonly description: string;
}

/** The most of a call that is looked through. */
const mostBytes = 8 * 1_048_576;

/** Reads along which tools a call shows the model; what cannot be read shows none. */
export function readTools(incoming: IncomingMessage, onTools: (tools: readonly ShownTool[]) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= mostBytes) chunks.push(chunk);
  });
  incoming.on('end', () => {
    if (bytes <= mostBytes) onTools(toolsIn(Buffer.concat(chunks).toString('utf8')));
  });
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
