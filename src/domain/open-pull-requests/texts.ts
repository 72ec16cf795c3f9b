import { z } from 'zod';
import { inertLine, type OwnRepository } from '../../common/inert-markdown.ts';
import { plainLine, plainMarkdown, shorten } from '../../common/plain-text.ts';
import type { Context } from '../context.ts';
import { text } from '../input.ts';
import { sessionUrl } from '../sessions/session.ts';
import { inertTexts } from './inert-texts.ts';
import type { PullRequestSession, Target } from './target.ts';

/** The schema of labels, or of reviewers. */
export const names = (name: string) =>
  z
    .array(text(name, { min: 1, max: 100, isBlankRefused: true }), { error: `"${name}" must be a list of texts.` })
    .max(20, `"${name}" must have at most 20 items.`)
    .nullish();

/** Labels or reviewers without control characters. */
export const plainNames = (input: readonly string[] | null | undefined): string[] =>
  (input ?? []).map((each) => plainLine(each, 100)).filter((each) => each !== '');

/** Says who requested something, and where. Characters of Markdown in the name lose their meaning, and a name mentions nobody. */
export function requesterOf(context: Context, { id }: PullRequestSession): string {
  const { principal } = context.viewer;
  const name = 'name' in principal ? (principal.name ?? '') : '';
  const clean = plainLine(name, 100)
    .replaceAll(/[@#<>[\]()`*_\\|~!]/g, '')
    .trim();
  const by = clean === '' ? 'Requested' : `Requested by ${clean}`;
  return `${by} in ${sessionUrl(context, id)}`;
}

/** The beginning of each reply of an agent. Follow-ups recognize replies by it. */
export const agentReplyMark = 'Reply of an agent.';

/** Maximum length of a text at the forges, in characters, less some room. */
const maxText = 65_000;

/** The repository of a target, whose issues its pull requests may close. */
export const ownOf = ({ forge, path }: Pick<Target, 'forge' | 'path'>): OwnRepository => ({ host: forge.host, path });

/** The title of a pull request, which mentions nobody and closes issues of its own repository only. */
export const titleOf = (title: string, own: OwnRepository): string =>
  plainLine(inertLine(plainLine(title, 250), own), 250);

/** A text of an agent or a caller for the forge, made harmless and begun with a line. Throws INVALID_STATE if there are too many. */
export async function inertBodyWith(
  body: string,
  line: string,
  options: { readonly organizationId: string; readonly own: OwnRepository | null },
): Promise<string> {
  const [text = ''] = await inertTexts([body], options);
  return bodyWith(text, line);
}

/** Begins a Markdown text with a line. Nothing in the text can hide it there; after the text, an open comment or fence could. */
export function bodyWith(body: string, line: string): string {
  return shorten(`${line}\n\n${plainMarkdown(body).trim()}`.trim(), maxText).concat('\n');
}
