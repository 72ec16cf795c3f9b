import { z } from 'zod';
import { findGraphqlProblems, type GraphqlConfig, graphqlVariables, readGraphqlConfig } from './graphql.ts';
import { type HttpConfig, httpVariables, readHttpConfig } from './http.ts';
import { type ProcessConfig, processVariables, readProcessConfig } from './process.ts';
import { readSessionConfig, type SessionConfig, sessionVariables } from './sessions.ts';
import { findStorageProblems, readStorageConfig, type StorageConfig, storageVariables } from './storage.ts';

/** Every variable: its meaning, form and default. Nothing else reads the environment. */
const variables = z.object({
  ...processVariables,
  ...httpVariables,
  ...storageVariables,
  ...sessionVariables,
  ...graphqlVariables,
});

/** The configuration of one process. Paths are absolute. */
export interface Config extends ProcessConfig, HttpConfig, StorageConfig, SessionConfig, GraphqlConfig {
  /** The variables that agents may see (PATH, LANG, TERM, TMPDIR), as this process has them. */
  readonly agentBaseEnv: Readonly<Record<string, string>>;
  /** Reads a variable that a profile names as its provider's key; undefined if it is not set or is the service's own. */
  readonly readVariable: (name: string) => string | undefined;
}

/** Every problem of the environment, one line for each variable. It never repeats a value. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

const agentVariables = ['PATH', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'TZ'];

/** Reads the environment; an empty variable counts as not set. Throws one {@link ConfigError} with every problem. */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  const input = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = variables.safeParse(input);
  if (!result.success) {
    throw new ConfigError(result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`));
  }
  const env = result.data;
  const problems = [...findStorageProblems(env), ...findGraphqlProblems(env)];
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    ...readProcessConfig(env),
    ...readHttpConfig(env),
    ...readStorageConfig(env),
    ...readSessionConfig(env),
    ...readGraphqlConfig(env),
    readVariable: (name) => (Object.hasOwn(variables.shape, name) ? undefined : input[name]),
    agentBaseEnv: Object.fromEntries(
      agentVariables.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]])),
    ),
  };
}
