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
  /** The variables for npm: those of {@link agentBaseEnv}, proxies, certificates and npm's own settings. */
  readonly npmEnv: Readonly<Record<string, string>>;
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

const npmVariables = /^(?:npm_config_.+|https?_proxy|no_proxy|proxy|node_extra_ca_certs|ssl_cert_(?:file|dir)|home)$/i;

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
  const agentBaseEnv = pick(input, (name) => agentVariables.includes(name));
  return {
    ...readProcessConfig(env),
    ...readHttpConfig(env),
    ...readStorageConfig(env),
    ...readSessionConfig(env),
    ...readGraphqlConfig(env),
    readVariable: (name) => (Object.hasOwn(variables.shape, name) ? undefined : input[name]),
    agentBaseEnv,
    npmEnv: { ...agentBaseEnv, ...pick(input, (name) => npmVariables.test(name)) },
  };
}

function pick(input: Readonly<Record<string, string | undefined>>, isWanted: (name: string) => boolean) {
  return Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) => (value !== undefined && isWanted(name) ? [[name, value]] : [])),
  );
}
