// Names that would change what the agent's own process is, or that the service sets itself.
const refusedNames = /^(PATH|HOME|LD_.*|DYLD_.*|NODE_OPTIONS|BASH_ENV|ENV|SWITCHYARD_.*)$/i;

/** Whether a secret of this name may be an environment variable of the agent. */
export function isEnvironmentName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !refusedNames.test(name);
}

/**
 * The environment variable that an organization's secret is for the agent: its own name, with `_` for every character
 * that none can have (`api-key` is `api_key`) and before a digit at its start. Null where that is a refused name.
 */
export function environmentNameOf(key: string): string | null {
  const name = key.replaceAll(/[^A-Za-z0-9_]/gu, '_').replace(/^(?=\d)/, '_');
  return isEnvironmentName(name) ? name : null;
}
