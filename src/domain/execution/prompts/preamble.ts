import { posix } from 'node:path';
import type { LaunchPlan } from '../runs/launch.ts';
import { type FilePaths, sessionDirectory } from './session-files.ts';

/** The input of the preamble. */
export interface PreambleInput {
  /** The workspace's path as the agent sees it. */
  readonly workspace: string;
  /** The names of the reporting tools. */
  readonly tools: readonly string[];
  readonly plan: Pick<LaunchPlan, 'env' | 'leftOut' | 'totpKeys' | 'repositories'>;
  /** Files of secrets, by the secrets' keys. */
  readonly secretFiles: FilePaths;
}

// The purpose of each reporting tool. A tool that is missing here describes itself.
const toolLines: Readonly<Record<string, string>> = {
  'ask_user': 'You cannot go on without the user: call `ask_user` with your question, then end your turn.',
  'ask_the_user': 'You cannot go on without the user: call `ask_the_user` with your question, then end your turn.',
  'finish_session': 'All is done and you expect nothing more: call `finish_session`.',
  'read_knowledge': 'A note of the knowledge below fits your task: read it with `read_knowledge`.',
  'upload_attachment': 'The user should have a file at once: call `upload_attachment` with its path.',
  'report_pull_request': 'You opened a pull request, or its state has changed: call `report_pull_request`.',
  'open_pull_request': 'Your branch is pushed and should be merged: call `open_pull_request`.',
  'submit_review': 'Your review is complete: call `submit_review`, once.',
  'start_session': 'A part of the work can be done beside yours: `start_session` starts another agent on it.',
};

/**
 * Builds the introduction for an agent of any kind: its workspace, its tools and files, and how it reports. It contains
 * no values of secrets.
 */
export function preambleOf({ workspace, tools, plan, secretFiles }: PreambleInput): string {
  const own = `${sessionDirectory}/`;
  return [
    `You are at work in a session of Switchyard, a service that runs agents without a person beside them. Your workspace is ${workspace}: work there.`,
    list([
      'What you say is what the user reads. End your turn with a short account of what you did and found.',
      'Nobody answers prompts on a terminal: use commands that ask nothing. Do not wait for a confirmation; where something is open, choose what fits best, and say so.',
      tools.includes('ask_user') || tools.includes('ask_the_user')
        ? null
        : 'You cannot go on without the user: end your turn with your question.',
      `\`${own}\` in the workspace belongs to the service: do not commit it. Whatever you leave in \`${own}outputs/\` is given to the user when your turn ends.`,
      ...tools.map((name) => (Object.hasOwn(toolLines, name) ? (toolLines[name] as string) : null)),
    ]),
    ...repositoriesOf(workspace, plan),
    ...secretsOf(tools, plan, secretFiles),
  ].join('\n\n');
}

function repositoriesOf(workspace: string, { repositories = [] }: PreambleInput['plan']): string[] {
  if (repositories.length === 0) return [];
  const lines = repositories.map(({ host, path, directory, branch, isReadOnly }) => {
    const clone = `${code(`${host}/${path}`)} is cloned in ${code(posix.join(workspace, directory))}`;
    return isReadOnly ? `${clone}. You may read it, but not push to it.` : `${clone}, on the branch ${code(branch)}.`;
  });
  const [only] = repositories;
  const isBelow = repositories.length === 1 && only?.directory !== '.';
  return [
    `Repositories:\n\n${list([
      ...lines,
      repositories.every(({ isReadOnly }) => isReadOnly)
        ? null
        : 'Commit your work, and push it to the branch that is named above: `git push` is set up for it, without a password. Pushes to other branches and tags, and deletions, are refused.',
      'Other clones, fetches and pushes work with these repositories only.',
      isBelow ? `Paths that begin with \`${sessionDirectory}/\` are relative to ${workspace}.` : null,
    ])}`,
  ];
}

function secretsOf(tools: readonly string[], plan: PreambleInput['plan'], files: FilePaths): string[] {
  const names = Object.keys(plan.env);
  const lines = [
    names.length > 0 ? `In variables of your environment: ${names.map(code).join(', ')}.` : null,
    ...[...files].map(([key, path]) => `The cookies ${code(key)}: in the file \`${path}\`.`),
    plan.totpKeys.length > 0 && tools.includes('totp_code')
      ? `One-time passwords, a code at a time by \`totp_code\`: ${plan.totpKeys.map(code).join(', ')}.`
      : null,
  ];
  const has = lines.some((line) => line !== null);
  const { leftOut } = plan;
  return [
    ...(has ? [`Secrets that you may use. Never say them, and never write them into a file:\n\n${list(lines)}`] : []),
    // Mentioned because the user may expect them.
    ...(leftOut.length > 0
      ? [
          `Secrets that you were not given, because the service sets variables of these names itself: ${leftOut.map(code).join(', ')}.`,
        ]
      : []),
  ];
}

function list(lines: readonly (string | null)[]): string {
  return lines
    .filter((line) => line !== null)
    .map((line) => `- ${line}`)
    .join('\n');
}

// A key may contain anything but control characters.
function code(name: string): string {
  return `\`${name.replaceAll('`', "'")}\``;
}
