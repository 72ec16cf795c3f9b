import { cleanText } from '../../../agents/git-gateway/refusals.ts';
import type { DefinitionProblem } from '../../environments/definition.ts';
import type { NewEntry } from '../../sessions/log.ts';
import { nameOf } from '../repositories/gateway-access.ts';
import type { SessionRepositoryRow } from '../repositories/session-repositories.ts';
import type { CommandEnd } from './run-command.ts';

/** The number of lines of the output of a failed command that the agent gets. */
const lastLines = 50;
/** The maximum number of characters of them. */
const lastCharacters = 8_000;

type Row = Pick<SessionRepositoryRow, 'host' | 'path'>;

const listed = (commands: readonly string[]): string =>
  commands.map((command) => `\`${cleanText(command).slice(0, 200).replaceAll('`', "'")}\``).join(', ');

/** Returns the problems of a definition as the items of a list. */
export function problemLines(problems: readonly DefinitionProblem[]): string[] {
  return problems.map(({ file, line, message }) => {
    const where = [file ?? 'The stored definition', ...(line === null ? [] : [`line ${line}`])].join(', ');
    return `- ${where}: ${cleanText(message)}`;
  });
}

/** Makes the log entry about the problems of a definition. Its `agentNote` is for the agent's next prompt. */
export function problemsNotice(row: Row, problems: readonly DefinitionProblem[]): NewEntry {
  const lines = problemLines(problems);
  const isUnusable = problems.some(({ severity }) => severity === 'ERROR');
  const what = isUnusable ? 'has errors, so the repository is not set up' : 'has parts that do not apply';
  const body = `The environment of ${nameOf(row)} ${what}:\n${lines.join('\n')}`;
  return { kind: 'NOTICE', body, data: { isWarning: true, ...(isUnusable && { agentNote: body }) } };
}

/** Makes the log entry about a secret that a set-up does not get. */
export function warningNotice(text: string): NewEntry {
  return { kind: 'NOTICE', body: text, data: { isWarning: true } };
}

/** Makes the log entry of a set-up that is done. */
export function doneNotice(row: Row, commands: readonly string[], isReused: boolean): NewEntry {
  const name = nameOf(row);
  const body = isReused
    ? `The session begins with the stored result of the set-up of ${name}.`
    : `The set-up of ${name} is done.`;
  const agentNote = `The repository ${name} is set up already: ${listed(commands)} ran before you started. You need not run this again unless what it depends on changes.`;
  return { kind: 'NOTICE', body, data: { agentNote } };
}

/** Makes the log entry of a command that failed. `output`: its masked end. */
export function failedNotice(
  row: Row,
  { command, isStart }: { readonly command: string; readonly isStart: boolean },
  { reason, output }: { readonly reason: string; readonly output: string },
): NewEntry {
  const what = isStart ? 'A start command' : 'The set-up';
  const body = `${what} of ${nameOf(row)} failed: ${listed([command])} ${reason}.`;
  const end = output.trim().slice(-lastCharacters).split('\n').slice(-lastLines).join('\n');
  const printed = end === '' ? 'It printed nothing.' : `The end of its output:\n\n${end}`;
  const rest = isStart ? '' : ' Later commands of the set-up did not run.';
  const agentNote = `${body}${rest} ${printed}`;
  return { kind: 'NOTICE', body: `${body}${rest} The agent starts anyway.`, data: { isWarning: true, agentNote } };
}

/** Makes the log entry of a result that is not stored, so that the next session sets up again. */
export function notStoredNotice(row: Row, reason: string): NewEntry {
  const body = `The result of the set-up of ${nameOf(row)} is not stored for the next sessions: ${reason}`;
  return { kind: 'NOTICE', body, data: { isWarning: true } };
}

/** Returns the reason for which a command failed, as the end of a sentence; null: it succeeded. */
export function failureReason({ cause, code, signal }: CommandEnd, timeoutMinutes: number): string | null {
  if (cause === 'timeout') {
    const time = timeoutMinutes === 1 ? '1 minute' : `${timeoutMinutes} minutes`;
    return `took longer than the time of the set-up, which is ${time}`;
  }
  if (cause === 'flood') return 'printed more than 64 MB';
  if (code === 0) return null;
  return signal === null ? `ended with the exit code ${code ?? 'unknown'}` : `was ended by ${signal}`;
}
