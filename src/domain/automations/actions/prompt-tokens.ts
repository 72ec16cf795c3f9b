import { macrosIn } from '../../library/expand-macros.ts';
import { readRepositoryTokens } from '../../sessions/repositories/repository-tokens.ts';

/**
 * The references in a prompt, without duplicates, in the prompt's order. A reference after a backslash is only text
 * (docs/automations.md#names-in-prompts).
 */
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

// The last character of a name is neither "." nor "-", as in the tokens of repositories.
const playbook =
  /(?<![\w@/.\\-])@playbook:(?:"([^"\n]{1,500})"|([\p{L}\p{N}_](?:[\p{L}\p{N}_.-]{0,198}[\p{L}\p{N}_])?))/gu;
// Matches neither `$${x}` nor the other syntax of shells and programs: `${x:-y}`, `${x()}`.
const secret = /(?<![\\$])\$\{([A-Za-z_][\w.-]{0,255})\}/g;

/** Reads the references in a prompt. `@skills:…` is meant for the agent and ignored here. */
export function readPromptTokens(prompt: string): PromptTokens {
  const all = (pattern: RegExp) => [
    ...new Set([...prompt.matchAll(pattern)].map(([, quoted, plain]) => (quoted ?? plain ?? '').trim())),
  ];
  return {
    playbooks: all(playbook),
    macros: macrosIn([prompt]),
    secrets: all(secret),
    repos: readRepositoryTokens(prompt),
  };
}
