import { describeSettings, findSecretValues } from './describe-settings.ts';
import { findGraphqlProblems, type GraphqlConfig, readGraphqlConfig } from './graphql.ts';
import { type HttpConfig, readHttpConfig } from './http.ts';
import { type ProcessConfig, readProcessConfig } from './process.ts';
import { type RetentionConfig, readRetentionConfig } from './retention.ts';
import { fileVariable, readSecretFile, readSecretFiles } from './secret-files.ts';
import { readSessionConfig, type SessionConfig } from './sessions.ts';
import { findStorageProblems, readStorageConfig, type StorageConfig } from './storage.ts';
import { secretNames, settingNames, variables } from './variables.ts';

/** The configuration of one process. Paths are absolute. */
export interface Config
  extends ProcessConfig,
    HttpConfig,
    StorageConfig,
    SessionConfig,
    RetentionConfig,
    GraphqlConfig {
  /** The variables that agents may see (PATH, LANG, TERM, TMPDIR), as this process has them. */
  readonly agentBaseEnv: Readonly<Record<string, string>>;
  /**
   * Reads a variable that a profile names as its provider's key, or the file that `NAME_FILE` names; undefined if it is not set or
   * is the service's own. Throws {@link ConfigError} if the file cannot be used.
   */
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

/**
 * Reads the environment, and the files with secrets that it names; an empty variable counts as not set. Throws one {@link
 * ConfigError} with every problem.
 */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  const input = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const files = readSecretFiles(input, secretNames);
  const result = variables.safeParse({ ...input, ...files.values });
  if (!result.success) {
    const issues = result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`);
    throw new ConfigError([...files.problems, ...issues]);
  }
  const env = result.data;
  // A secret whose file cannot be read is missing: what else its absence causes would mislead.
  const contradictions = [...findStorageProblems(env), ...findGraphqlProblems(env)];
  const problems = files.problems.length > 0 ? files.problems : contradictions;
  if (problems.length > 0) throw new ConfigError(problems);
  const agentBaseEnv = pick(input, (name) => agentVariables.includes(name));
  return {
    ...readProcessConfig(env),
    ...readHttpConfig(env),
    ...readStorageConfig(env),
    ...readSessionConfig(env),
    ...readRetentionConfig(env),
    ...readGraphqlConfig(env),
    readVariable: createVariableReader(input),
    agentBaseEnv,
    npmEnv: { ...agentBaseEnv, ...pick(input, (name) => npmVariables.test(name)) },
  };
}

/** Returns what a report may show of the environment, and the values that it must mask. */
export function readSettings(environment: Record<string, string | undefined> = process.env) {
  return { settings: describeSettings(environment), secrets: findSecretValues(environment) };
}

function createVariableReader(input: Readonly<Record<string, string | undefined>>): Config['readVariable'] {
  const own = new Set([...settingNames, ...secretNames.map(fileVariable)]);
  const fromFiles = new Map<string, string>();
  return (name) => {
    if (own.has(name)) return undefined;
    const known = fromFiles.get(name);
    if (known !== undefined) return known;
    const file = readSecretFile(input, name);
    if (file === null) return input[name];
    if ('problem' in file) throw new ConfigError([file.problem]);
    // Read once: agents that start later get the same key.
    fromFiles.set(name, file.value);
    return file.value;
  };
}

function pick(input: Readonly<Record<string, string | undefined>>, isWanted: (name: string) => boolean) {
  return Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) => (value !== undefined && isWanted(name) ? [[name, value]] : [])),
  );
}
