/** A line that says what went wrong, in the output of most programs. */
const telling = /\b(error|fatal|failed|failure|denied|refused|rejected|not found|cannot|can't)\b/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins the codes of terminals.
const codes = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007]*\u0007?/g;
/** The part of an output that is searched, in characters: its end. */
const searched = 4_000;

/** Returns the line of a failed call's output that most likely says why it failed: the last one that names an error, or else the last. */
export function failureReason(output: string): string | null {
  const lines = output
    .slice(-searched)
    .replace(codes, '')
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.findLast((line) => telling.test(line)) ?? lines.at(-1) ?? null;
}
