import type { z } from 'zod';
import { shorten } from '../../common/plain-text.ts';
import { isEnvironmentName } from '../secret-names.ts';
import {
  type DefinitionProblem,
  definitionOf,
  definitionSchema,
  type EnvironmentDefinition,
  maxDefinitionBytes,
} from './definition.ts';
import { readJsonWithComments, readYaml, type SourceResult, type SourceValue } from './source-text.ts';

/** The files of a repository that may define its environment. The first one that exists applies. */
export const definitionFiles = [
  '.switchyard/environment.yaml',
  '.devcontainer/devcontainer.json',
  '.cursor/environment.json',
  '.openhands/setup.sh',
] as const;

/** The path of a file that defines an environment. */
export type DefinitionFile = (typeof definitionFiles)[number];

/** A definition as it was read. */
export interface DefinitionReading {
  /** Null: the text has errors. */
  readonly definition: EnvironmentDefinition | null;
  /** The errors, or the parts of the definition that do not apply. */
  readonly problems: readonly DefinitionProblem[];
}

/**
 * Reads the definition of an environment. Never throws: a hostile repository can write any bytes.
 *
 * @param file the file that has the text; null: the text is stored in Switchyard, in the form of `.switchyard/environment.yaml`
 */
export function readDefinition(file: DefinitionFile | null, text: string): DefinitionReading {
  const size = Buffer.byteLength(text);
  if (size > maxDefinitionBytes)
    return failed(file, [
      { line: null, message: `The text must have at most ${maxDefinitionBytes} bytes, but has ${size}.` },
    ]);
  if (text.includes('\0') || !text.isWellFormed())
    return failed(file, [{ line: null, message: 'The text must be Unicode text without NUL characters.' }]);
  if (file === null || file === '.switchyard/environment.yaml') return readOwn(file, text);
  if (file === '.openhands/setup.sh') return readScript(file, text);
  return readOther(file, text, file === '.cursor/environment.json' ? readCursor : readDevcontainer);
}

function failed(
  file: DefinitionFile | null,
  problems: readonly Omit<DefinitionProblem, 'severity' | 'file'>[],
): DefinitionReading {
  return {
    definition: null,
    problems: problems.map(({ line, message }) => ({
      severity: 'ERROR',
      file,
      line,
      message: shorten(message, maxMessage),
    })),
  };
}

function readOwn(file: DefinitionFile | null, text: string): DefinitionReading {
  const source = readYaml(text);
  if ('errors' in source) return failed(file, source.errors);
  const parsed = definitionSchema.safeParse(source.value ?? {});
  if (!parsed.success) return failed(file, problemsOf(source, parsed.error));
  return { definition: definitionOf(parsed.data), problems: [] };
}

function problemsOf(source: SourceValue, { issues }: z.ZodError) {
  return issues.slice(0, maxProblems).map((issue) => {
    const key = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    const [nested] = issue.code === 'invalid_key' ? issue.issues : [];
    return { line: source.lineOf([...issue.path, ...key]), message: nested?.message ?? issue.message };
  });
}

/** The maximum number of reported problems, and of the characters of each: names in a hostile text have any length. */
const maxProblems = 20;
const maxMessage = 500;

// The content decides what the set-up does, so a change of it requires another one.
function readScript(file: DefinitionFile, text: string): DefinitionReading {
  if (text.trim() === '') return { definition: definitionOf(definitionSchema.parse({})), problems: [] };
  const members = { setup: `bash ${file}`, lockfiles: [file] };
  return { definition: definitionOf(definitionSchema.parse(members)), problems: [] };
}

/** Converts a file of another tool to the members of ours. Members that we do not read are ignored. */
type Convert = (value: Readonly<Record<string, unknown>>) => Converted;

interface Converted {
  /** The members of {@link definitionSchema}, with the paths of those that they were made of. */
  readonly members: Record<string, unknown>;
  readonly names: Readonly<Record<string, string>>;
  readonly warnings: readonly { readonly path: readonly string[]; readonly message: string }[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readOther(file: DefinitionFile, text: string, convert: Convert): DefinitionReading {
  const source: SourceResult = readJsonWithComments(text);
  if ('errors' in source) return failed(file, source.errors);
  if (!isObject(source.value)) return failed(file, [{ line: 1, message: 'The text must be a JSON object.' }]);
  const { members, names, warnings } = convert(source.value);
  const parsed = definitionSchema.safeParse(members);
  if (!parsed.success) {
    const issues = problemsOf(
      { ...source, lineOf: ([first, ...rest]) => source.lineOf([names[String(first)] ?? '', ...rest]) },
      parsed.error,
    );
    const renamed = (message: string) =>
      Object.entries(names).reduce((text, [ours, theirs]) => text.replaceAll(`"${ours}"`, `"${theirs}"`), message);
    return failed(
      file,
      issues.map(({ line, message }) => ({ line, message: renamed(message) })),
    );
  }
  const problems = warnings.slice(0, maxProblems).map(
    ({ path, message }): DefinitionProblem => ({
      severity: 'WARNING',
      file,
      line: source.lineOf(path),
      message: shorten(message, maxMessage),
    }),
  );
  return { definition: definitionOf(parsed.data), problems };
}

const readCursor: Convert = ({ install, start }) => ({
  members: { setup: install ?? [], start: start ?? [] },
  names: { setup: 'install', start: 'start' },
  warnings: [],
});

const readDevcontainer: Convert = ({ postCreateCommand, postStartCommand, containerEnv }) => {
  const { env, warnings } = usableVariables(containerEnv);
  return {
    members: { setup: commandsOf(postCreateCommand), start: commandsOf(postStartCommand), env },
    names: { setup: 'postCreateCommand', start: 'postStartCommand', env: 'containerEnv' },
    warnings,
  };
};

// A text is a shell command, a list is a program with its arguments, and an object has several of them by name.
function commandsOf(raw: unknown): unknown {
  if (raw === undefined || raw === null || raw === '') return [];
  if (Array.isArray(raw)) return raw.every((each) => typeof each === 'string') ? [raw.map(quoted).join(' ')] : raw;
  return isObject(raw) ? Object.values(raw).flatMap((each) => (isObject(each) ? [each] : commandsOf(each))) : raw;
}

function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}

// Such files are made for containers: a variable that means nothing here does not make them unusable.
function usableVariables(raw: unknown): { readonly env: unknown; readonly warnings: Converted['warnings'] } {
  if (!isObject(raw)) return { env: raw, warnings: [] };
  const kept: [string, unknown][] = [];
  const warnings: { path: string[]; message: string }[] = [];
  for (const [name, value] of Object.entries(raw)) {
    const path = ['containerEnv', name];
    if (!isEnvironmentName(name))
      warnings.push({
        path,
        message: `The variable ${JSON.stringify(name)} is left out: the service sets it, or a variable cannot have this name.`,
      });
    else if (typeof value === 'string' && /\$\{\w+(:[^}]*)?\}/.test(value))
      warnings.push({
        path,
        message: `The variable ${JSON.stringify(name)} is left out: "\${…}" in values is not supported.`,
      });
    else kept.push([name, value]);
  }
  return { env: Object.fromEntries(kept), warnings };
}
