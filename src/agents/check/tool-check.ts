import type { ShownTool } from '../gateway/tool-reader.ts';
import type { Tool } from '../reporting/serve-tools.ts';

/** Which of the service's tools an agent shows its model. */
export interface ToolCheck {
  readonly arrived: readonly string[];
  readonly missing: readonly string[];
}

/** So much of a description tells a tool from another of the same name; agents cut what is long. */
const comparedCharacters = 60;

/**
 * Compares what was served with what the model was shown. Agents put the server's name before a tool's, and hide one that
 * has the name of a tool of their own: that is told by its description.
 */
export function compareTools(served: readonly Tool[], shown: readonly ShownTool[]): ToolCheck {
  const isShown = ({ name, description }: Tool) =>
    shown.some(
      (each) => each.name.endsWith(name) && each.description.includes(description.slice(0, comparedCharacters)),
    );
  const named = (tools: readonly Tool[]) => tools.map(({ name }) => name);
  return { arrived: named(served.filter(isShown)), missing: named(served.filter((tool) => !isShown(tool))) };
}

/** Sentences about what is missing. */
export function missingTools(check: ToolCheck | null): string[] {
  if (check === null || check.missing.length === 0) return [];
  const hint = check.missing.includes('ask_user')
    ? ' It may keep a tool of its own by the name "ask_user": "ask_tool": "ask_the_user" gives ours another.'
    : '';
  return [`Its model is not shown these tools of the service: ${check.missing.join(', ')}.${hint}`];
}
