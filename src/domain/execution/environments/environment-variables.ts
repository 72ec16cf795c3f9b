import type { AgentProfile } from '../../../agents/agent.ts';
import type { Context } from '../../context.ts';
import { readSecrets } from '../../library/secrets/secrets.ts';
import { environmentNameOf } from '../../secret-names.ts';
import { mayBeOfStranger } from '../repositories/session-repositories.ts';
import type { LaunchPlan } from '../runs/launch.ts';
import { isProfileSecret, variablesOfProfile } from '../runs/run-secrets.ts';
import type { RepositoryEnvironment, RunEnvironment } from './run-environment.ts';

/** The secrets of a set-up. Never log them. */
export interface SetUpSecrets {
  /** Variables by the positions of the repositories. */
  readonly env: ReadonlyMap<number, Readonly<Record<string, string>>>;
  /** Values to mask. */
  readonly values: readonly string[];
  /** Sentences about secrets that a set-up does not get. */
  readonly warnings: readonly string[];
}

/**
 * Opens the secrets that the definitions name for their set-ups. A definition in the repository gets only those that the session selects. The set-up
 * of code that anybody may have written gets none.
 */
export async function readSetUpSecrets(
  context: Context,
  { organizationId, secretIds }: Pick<LaunchPlan, 'organizationId' | 'secretIds'>,
  environments: readonly RepositoryEnvironment[],
): Promise<SetUpSecrets> {
  const env = new Map<number, Record<string, string>>();
  const values: string[] = [];
  const warnings: string[] = [];
  for (const { row, definition, isStored } of environments) {
    if (definition.secrets.length === 0) continue;
    const name = `${row.host}/${row.path}`;
    if (mayBeOfStranger(row)) {
      const what = row.pullRequestNumber === null ? 'began at no branch and no tag' : 'works on a pull request';
      warnings.push(`The set-up of ${name} gets no secrets, because the session ${what}.`);
      continue;
    }
    const found = await readSecrets(context, organizationId, isStored ? null : secretIds, 'key-value');
    const variables: Record<string, string> = {};
    for (const key of definition.secrets) {
      const secret = found.find((each) => each.key === key);
      const variable = environmentNameOf(key);
      if (secret === undefined || variable === null) {
        warnings.push(
          `The set-up of ${name} does not get the secret ${JSON.stringify(key)}: the session has no such secret.`,
        );
        continue;
      }
      variables[variable] = secret.value;
      values.push(secret.value);
    }
    env.set(row.position, variables);
  }
  return { env, values, warnings };
}

/**
 * Returns the plan of a run with environments: the agent does not get the organization's secrets that belong to a set-up, and their values are
 * masked.
 */
export function withEnvironment(plan: LaunchPlan, { environments }: RunEnvironment, secrets: SetUpSecrets): LaunchPlan {
  const ofSetUp = new Set(
    environments.flatMap(({ definition }) => definition.secrets.map((key) => environmentNameOf(key))),
  );
  const env = Object.entries(plan.env).filter(([name]) => plan.ownNames.includes(name) || !ofSetUp.has(name));
  return { ...plan, env: Object.fromEntries(env), secretValues: [...plan.secretValues, ...secrets.values] };
}

// They change the code that the agent's own process loads, where it sends its requests, or its configuration. The commands of the
// environment may have them.
const refusedForAgents =
  /^(NODE_(?!ENV$)|OPENSSL_|GCONV_|PYTHON|PERL|RUBY|JAVA_|_JAVA_|JDK_|GIT_|SSH_|SSL_|CURL_|REQUESTS_|BUN_|DENO_|XDG_|NPM_CONFIG_|AWS_(?!(DEFAULT_)?REGION$)|AZURE_|CLOUDFLARE_|OLLAMA_|ANTHROPIC_|CLAUDE_|OPENAI_|CODEX_|GEMINI_|GOOGLE_|OPENCODE_|OPENROUTER_)|(^|_)(PROXY|BASE_URL|API_URL|API_BASE|ENDPOINT|CONFIG|CONFIG_DIR|CONFIG_HOME|CONFIG_CONTENT)$/i;

/** Returns the variables of the environments for the agent itself: none that its profile, its secrets or the service set. */
export function agentVariables(
  { environments }: RunEnvironment,
  profile: AgentProfile,
  { env }: Pick<LaunchPlan, 'env'>,
): Record<string, string> {
  const taken = new Set([...variablesOfProfile(profile), ...Object.keys(env)]);
  const all = environments.flatMap(({ definition }) => Object.entries(definition.env));
  return Object.fromEntries(all.filter(([name]) => !taken.has(name) && !refusedForAgents.test(name)));
}

/** Returns the variables of the commands of an environment: those of the profile that are no keys, and its own. */
export function commandVariables(
  { definition }: Pick<RepositoryEnvironment, 'definition'>,
  profile: AgentProfile,
): Record<string, string> {
  const ofProfile = Object.entries(profile.env).filter(([name]) => !isProfileSecret(profile, name));
  return { ...Object.fromEntries(ofProfile), ...definition.env };
}
