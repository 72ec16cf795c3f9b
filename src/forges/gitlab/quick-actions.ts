// A line that begins with the name of a quick action. Escaped lines in a block of code show the backslash.
const quickAction = /^([ \t]*)\/(?=[\w-]+(?:\s|$))/gm;

/**
 * Escapes the lines of a Markdown text that GitLab takes for quick actions, such as `/merge` and `/approve`. It executes them with the rights
 * of the connection's account.
 */
export const withoutQuickActions = (text: string): string => text.replace(quickAction, String.raw`$1\/`);
