import type { ShownTool } from '../gateway/tool-reader.ts';
import type { Tool } from '../reporting/serve-tools.ts';

/** The service's tools that an agent offers to its model. */
export interface ToolCheck {
  readonly arrived: readonly string[];
  readonly missing: readonly string[];
}

/** The length of a description that distinguishes tools of the same name; agents truncate long ones. */
const comparedCharacters = 60;

/**
 * Compares the served tools with those offered to the model. Agents prefix a tool's name with the server's, and hide a
 * tool that has the name of one of their own; the description detects that.
 */
export function compareTools(served: readonly Tool[], shown: readonly ShownTool[]): ToolCheck {
  const isShown = ({ name, description }: Tool) =>
    shown.some(
      (each) => each.name.endsWith(name) && each.description.includes(description.slice(0, comparedCharacters)),
    );
  const named = (tools: readonly Tool[]) => tools.map(({ name }) => name);
  return { arrived: named(served.filter(isShown)), missing: named(served.filter((tool) => !isShown(tool))) };
}

/** Sentences about missing tools. */
export function missingTools(check: ToolCheck | null): string[] {
  if (check === null || check.missing.length === 0) return [];
  const hint = check.missing.includes('ask_user')
    ? ' It may keep a tool of its own by the name "ask_user": "ask_tool": "ask_the_user" gives ours another.'
    : '';
  return [`Its model is not shown these tools of the service: ${check.missing.join(', ')}.${hint}`];
}
