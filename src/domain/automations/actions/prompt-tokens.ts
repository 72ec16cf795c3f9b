import { macrosIn } from '../../execution/prompts/macros.ts';

/** What a prompt names (wire-facts 4), each once, in the prompt's order. What has a backslash before it is only text. */
export interface PromptTokens {
  /** Ids or titles: `@playbook:playbook-…`, `@playbook:Release`, `@playbook:"Release notes"`. */
  readonly playbooks: readonly string[];
  /** In lower case, with their "!". */
  readonly macros: readonly string[];
  /** Names, of `${NAME}`. */
  readonly secrets: readonly string[];
  /** `owner/name`, of `@owner/name`. */
  readonly repos: readonly string[];
}

// A sentence may end behind a name: its last character is none of "." and "-".
const playbook =
  /(?<![\w@/.\\-])@playbook:(?:"([^"\n]{1,500})"|([\p{L}\p{N}_](?:[\p{L}\p{N}_.-]{0,198}[\p{L}\p{N}_])?))/gu;
// Neither `$${x}` nor what shells and programs write besides a name: `${x:-y}`, `${x()}`.
const secret = /(?<![\\$])\$\{([A-Za-z_][\w.-]{0,255})\}/g;
const repo = /(?<![\w@/.\\-])@([A-Za-z0-9](?:[\w.-]{0,98}\w)?\/\w(?:[\w.-]{0,98}\w)?)(?![\w/])/g;

/** Reads the names in a prompt. `@skills:…` is for the agent to read, and nothing to the service. */
export function readPromptTokens(prompt: string): PromptTokens {
  const all = (pattern: RegExp) => [
    ...new Set([...prompt.matchAll(pattern)].map(([, quoted, plain]) => (quoted ?? plain ?? '').trim())),
  ];
  return { playbooks: all(playbook), macros: macrosIn([prompt]), secrets: all(secret), repos: all(repo) };
}
