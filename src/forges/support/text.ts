import { z } from 'zod';
import { parseUrl } from '../../common/parse-url.ts';
import { plainLine, shorten } from '../../common/plain-text.ts';
import { ForgeError } from '../interface/errors.ts';

/** Maximum length of the body of a pull request, a review or a comment, in characters. GitHub allows 65,536. */
export const maxBodyLength: number = 65_536;

/** Removes control characters, except line breaks and tabs, and terminal escape sequences. Truncates to `max` characters. */
export function plainText(text: string, max: number = maxBodyLength): string {
  return shorten(
    text
      .slice(0, 2 * max)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
      .replaceAll(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g, '')
      .replaceAll(/\r\n?/g, '\n')
      .replaceAll(/(?![\n\t])\p{Cc}/gu, ''),
    max,
  );
}

/** A name or a title on one line; an empty text for null. */
export const nameText = (max = 255) =>
  z
    .string()
    .nullish()
    .transform((text) => plainLine(text ?? '', max));

/** Text of several lines; an empty text for null. */
export const bodyText = (max: number = maxBodyLength) =>
  z
    .string()
    .nullish()
    .transform((text) => plainText(text ?? '', max));

/** A number or text as an id of at most 64 characters without special ones. */
export const idText = z.union([z.number().int(), z.string().regex(/^[\w.:-]{1,64}$/)]).transform(String);

/** A time in ISO 8601, or null. Another text is null: a time is never worth an error. */
export const timestamp = z
  .string()
  .nullish()
  .transform((text) => {
    const date = new Date((text ?? '').slice(0, 40));
    // Gitea sends the year 1 instead of null.
    return Number.isNaN(date.getTime()) || date.getUTCFullYear() < 1970 ? null : date;
  });

/** A commit id. */
export const commitId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

/** Checks a commit id of a caller. Throws REJECTED. */
export function requireCommit(text: string): string {
  if (commitId.safeParse(text).success) return text;
  throw new ForgeError('REJECTED', 'The id of the commit is not valid.');
}

/** A commit id; null if it is missing, empty, or all zeros. */
export const optionalCommit = z
  .string()
  .nullish()
  .transform((text) => (commitId.safeParse(text).success && !/^0+$/.test(text ?? '') ? (text ?? null) : null));

/** Tells if git accepts a branch of this name (`git check-ref-format --branch`), and no program reads it as an option. */
export function isBranchName(name: string): boolean {
  return (
    name.length > 0 &&
    name.length <= 255 &&
    name !== '@' &&
    name !== 'HEAD' &&
    // Ranges of git: control characters, space, ~ ^ : ? * [ \ are forbidden; so are "..", "@{", "//" and a leading dash.
    !/[\p{C}\p{Z}~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[/.]$/u.test(name) &&
    name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'))
  );
}

/** A branch name. */
export const branchName = z.string().refine(isBranchName, 'not a valid branch name');

/** A branch name, or null if it is missing or empty. */
export const optionalBranch = z
  .union([z.literal(''), branchName])
  .nullish()
  .transform((name) => name || null);

/** An absolute http or https URL without a credential, at most 2,000 characters; null for anything else. */
export const webUrl = z
  .string()
  .nullish()
  .transform((text) => readWebUrl(text ?? ''));

function readWebUrl(text: string): string | null {
  if (text.length > 2_000) return null;
  const url = parseUrl(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null;
  return url.href;
}

/** Returns the forge's spelling of an address if it differs from the expected address in case only, and otherwise the expected one. */
export const sameUrl = (address: string | null, expected: string): string =>
  address?.toLowerCase() === expected.toLowerCase() ? address : expected;
