import { z } from 'zod';
import { shorten } from '../../common/plain-text.ts';
import { isStorable } from '../input.ts';
import { isEnvironmentName } from '../secret-names.ts';

/** The set-up of a repository for sessions. */
export interface EnvironmentDefinition {
  /** Shell commands that run once, in order. Their result is stored and reused. */
  readonly setup: readonly string[];
  /** Shell commands that run at each start of the agent, after the set-up. */
  readonly start: readonly string[];
  /** Variables of the commands and of the agent. */
  readonly env: Readonly<Record<string, string>>;
  /** The keys of the organization's secrets that the set-up has, and nothing else in the session. */
  readonly secrets: readonly string[];
  /** The time that all commands of the set-up together may take. */
  readonly timeoutMinutes: number;
  /** Paths of files in the repository, besides the known lockfiles, whose changes require another set-up. */
  readonly lockfiles: readonly string[];
}

/** A mistake in a definition, or a part of it that does not apply. */
export interface DefinitionProblem {
  /** An ERROR makes the definition unusable; a WARNING leaves one member or value out. */
  readonly severity: 'ERROR' | 'WARNING';
  /** Its path in the repository; null: the text that is stored in Switchyard. */
  readonly file: string | null;
  /** From 1; null: the whole text. */
  readonly line: number | null;
  /** A sentence that says what was expected. */
  readonly message: string;
}

/** Maximum size of a definition in bytes. */
export const maxDefinitionBytes = 65_536;

/** The limits of the members of a definition. */
const limits = { commands: 50, commandLength: 16_384, variables: 200, valueLength: 16_384, secrets: 50, lockfiles: 50 };

/** The time of a set-up whose definition names none. */
export const defaultTimeoutMinutes = 20;

const maxTimeoutMinutes = 120;

const sentence = (member: string, expected: string) => ({ error: `"${member}" must be ${expected}.` });

const command = (member: string) =>
  z
    .string(sentence(member, 'a command, or a list of commands'))
    .max(limits.commandLength, `A command of "${member}" must have at most ${limits.commandLength} characters.`)
    .refine((value) => value.trim() !== '', `A command of "${member}" must not be empty.`)
    .refine(isStorable, `A command of "${member}" must be Unicode text without NUL characters.`);

const commands = (member: string) =>
  z
    .preprocess(
      (raw) => (typeof raw === 'string' ? [raw] : (raw ?? [])),
      z
        .array(command(member), sentence(member, 'a command, or a list of commands'))
        .max(limits.commands, `"${member}" must have at most ${limits.commands} commands.`),
    )
    .default([]);

// Numbers and booleans are what YAML makes of `PORT: 3000` and `CI: true`.
const value = z
  .union([z.string(), z.number(), z.boolean()], {
    error: 'The value of a variable must be a text, a number or true or false.',
  })
  .transform(String)
  .refine(
    (text) => text.length <= limits.valueLength,
    `The value of a variable must have at most ${limits.valueLength} characters.`,
  )
  .refine(isStorable, 'The value of a variable must be Unicode text without NUL characters.');

const variableName = z
  .string()
  .max(200, 'The name of a variable must have at most 200 characters.')
  .refine(isEnvironmentName, {
    error: ({ input }) =>
      `${JSON.stringify(input)} cannot be a variable: use letters, digits and _, and no name that the service sets.`,
  });

const secretKey = z
  .string(sentence('secrets', 'a list of the keys of secrets'))
  .min(1, 'The key of a secret must not be empty.')
  .max(256, 'The key of a secret must have at most 256 characters.')
  .refine(isStorable, 'The key of a secret must be Unicode text without NUL characters.');

const repositoryPath = z
  .string(sentence('lockfiles', 'a list of paths'))
  .max(500, 'A path of "lockfiles" must have at most 500 characters.')
  .refine(isRepositoryPath, {
    error: ({ input }) =>
      `${JSON.stringify(input)} must be the path of a file in the repository, such as "web/package-lock.json".`,
  });

function isRepositoryPath(path: string): boolean {
  return isStorable(path) && path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}

/** Says which names are no members. A hostile text may have thousands. */
function areNoMembers([first = '', ...others]: readonly string[]): string {
  const name = JSON.stringify(shorten(first, 100));
  if (others.length === 0) return `${name} is not a member of an environment.`;
  return `${name} and ${others.length} more are not members of an environment.`;
}

/** The members of a definition in `.switchyard/environment.yaml` and in the text that is stored in Switchyard. */
export const definitionSchema = z.strictObject(
  {
    setup: commands('setup'),
    start: commands('start'),
    env: z
      .record(variableName, value, sentence('env', 'a mapping of variables to values'))
      .refine(
        (env) => Object.keys(env).length <= limits.variables,
        `"env" must have at most ${limits.variables} variables.`,
      )
      .nullish()
      .transform((env) => env ?? {}),
    secrets: z
      .array(secretKey, sentence('secrets', 'a list of the keys of secrets'))
      .max(limits.secrets, `"secrets" must have at most ${limits.secrets} keys.`)
      .nullish()
      .transform((keys) => [...new Set(keys ?? [])]),
    'timeout_minutes': z
      .int(sentence('timeout_minutes', `a whole number from 1 to ${maxTimeoutMinutes}`))
      .min(1, sentence('timeout_minutes', `a whole number from 1 to ${maxTimeoutMinutes}`))
      .max(maxTimeoutMinutes, sentence('timeout_minutes', `a whole number from 1 to ${maxTimeoutMinutes}`))
      .nullish()
      .transform((minutes) => minutes ?? defaultTimeoutMinutes),
    lockfiles: z
      .array(repositoryPath, sentence('lockfiles', 'a list of paths'))
      .max(limits.lockfiles, `"lockfiles" must have at most ${limits.lockfiles} paths.`)
      .nullish()
      .transform((paths) => [...new Set(paths ?? [])]),
  },
  {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? `${areNoMembers(keys as string[])} The members are setup, start, env, secrets, timeout_minutes and lockfiles.`
        : 'The environment must be a mapping with members such as "setup" and "start".',
  },
);

/** Returns the definition of a parsed text. */
export function definitionOf(parsed: z.output<typeof definitionSchema>): EnvironmentDefinition {
  const { 'timeout_minutes': timeoutMinutes, ...members } = parsed;
  return { ...members, timeoutMinutes };
}
