// Names that would change what the agent's own process is, or that the service sets itself.
const refusedNames = /^(PATH|HOME|LD_.*|DYLD_.*|NODE_OPTIONS|BASH_ENV|ENV|SWITCHYARD_.*)$/i;

/** Whether a secret of this name may be an environment variable of the agent. */
export function isEnvironmentName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !refusedNames.test(name);
}
