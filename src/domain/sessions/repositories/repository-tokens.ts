// A sentence may end after a name, so the last character of a name is neither "." nor "-".
const repository = /(?<![\w@/.\\-])@([A-Za-z0-9](?:[\w.-]{0,98}\w)?\/\w(?:[\w.-]{0,98}\w)?)(?![\w/])/g;

/** Returns the `owner/name` of the tokens `@owner/name` in a prompt, without duplicates, in the prompt's order. */
export function readRepositoryTokens(prompt: string): string[] {
  return [...new Set([...prompt.matchAll(repository)].map(([, name = '']) => name))];
}
