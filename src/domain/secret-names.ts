// Names that would affect the agent's own process, or that the service sets itself.
const refusedNames = /^(PATH|HOME|LD_.*|DYLD_.*|NODE_OPTIONS|BASH_ENV|ENV|SWITCHYARD_.*)$/i;

/** Tells if a secret with this name may be an environment variable of the agent. */
export function isEnvironmentName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !refusedNames.test(name);
}

/**
 * Returns the environment variable of an organization's secret: its own name, with `_` for every character that a
 * variable cannot have (`api-key` becomes `api_key`) and before a digit at its start. Null if that is a refused name.
 */
export function environmentNameOf(key: string): string | null {
  const name = key.replaceAll(/[^A-Za-z0-9_]/gu, '_').replace(/^(?=\d)/, '_');
  return isEnvironmentName(name) ? name : null;
}
