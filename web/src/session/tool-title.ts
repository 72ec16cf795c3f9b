import { serviceTools } from '../texts/session-transcript.ts';

const titles: Readonly<Record<string, string>> = serviceTools;

// Agents name a tool of an MCP server in several ways: "mcp__sessions__ask_user", "Tool: sessions/ask_user".
const toolName = /^(?:Call |Tool: )?(?:mcp__\w+?__|\w+[./:])?([a-z_]+)(?:\(\))?$/;

/** Returns the title of a tool call, for display: a tool of the service in words, any other title unchanged. */
export function toolTitle(title: string): string {
  const name = toolName.exec(title)?.[1];
  return (name !== undefined && Object.hasOwn(titles, name) ? titles[name] : undefined) ?? title;
}
