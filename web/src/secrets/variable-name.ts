/**
 * Returns the environment variable from which agents read a secret with this name: the service's rule, for the form. The service
 * refuses some names that this returns, such as `PATH`.
 */
export const variableName = (key: string): string => key.replaceAll(/[^A-Za-z0-9_]/gu, '_').replace(/^(?=\d)/, '_');
