import type { ErrorCode } from '../../common/errors.ts';
import { plainLine } from '../../common/plain-text.ts';
import { eventText } from '../automations/triggers/event-text.ts';
import type { ClaimedMention } from './claim-mentions.ts';
import type { MentionRefusal } from './find-mentioned.ts';

/** The beginning of each answer, by which a person and the service recognize it. */
export const answerMark = 'Switchyard:';

/** The answers to a mention in its thread. */
export const answers = {
  started: (url: string): string => `${answerMark} a session works on this: ${url}`,
  messaged: (url: string): string => `${answerMark} the session of this pull request got the message: ${url}`,
  refused: (code: ErrorCode): string =>
    `${answerMark} no session could be started: ${reasons[code] ?? 'the service refused it'}.`,
  unreachable: (refusal: MentionRefusal): string =>
    `${answerMark} no session could be started: ${refusalReasons[refusal]}.`,
} as const;

const refusalReasons: Readonly<Record<MentionRefusal, string>> = {
  none: 'no organization of the service may use this repository',
  chosen: 'the organization that is chosen for this repository may not use it',
  several: 'several organizations may use this repository, and an administrator has to choose one',
  'read_only': 'its organization may only read this repository',
};

// Anyone who sees the repository may read these.
const reasons: Readonly<Partial<Record<ErrorCode, string>>> = {
  FORBIDDEN: 'its organization may not start sessions',
  LIMIT_EXCEEDED: 'a limit of its organization is reached',
  UNKNOWN_REFERENCE: 'its organization lacks the repository or the agent of its settings',
};

/**
 * Returns the prompt of a mention. The text is that of a person who may write to the repository, and is quoted, so that it names
 * no attachment; "!" before a word loses its meaning. The title and the description may be anybody's, and are data.
 */
export function promptOf({
  authorLogin,
  url,
  number,
  isPullRequest,
  path,
  body,
  title,
  description,
}: ClaimedMention): string {
  const subject = `${isPullRequest ? 'pull request' : 'issue'} #${number} of ${path}`;
  const where = url === null ? subject : `${subject} (${url})`;
  const quoted = body
    .replaceAll(/!(?=[\p{L}\p{N}_-])/gu, '\\!')
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
  const data = JSON.stringify({ number, title, ...(description === '' ? {} : { description }) }, null, 2);
  const about = isPullRequest ? 'This is the pull request.' : 'This is the issue.';
  return `${plainLine(authorLogin, 100)} asks for this in ${where}:\n\n${quoted}\n\n${eventText(about, data)}`;
}
