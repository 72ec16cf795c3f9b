import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** True if the service was installed as an npm package. */
const isPackage = /[\\/]node_modules[\\/]/.test(fileURLToPath(import.meta.url));

/** True in a checkout of the repository. Otherwise, as in an image, the program `switchyard` is in PATH. */
const isCheckout = existsSync(new URL('../../rolldown.config.mjs', import.meta.url));

/** Returns the command line by which an operator runs a command of the service, such as `token`, where it is installed. */
export function commandLine(name: string, args = ''): string {
  // Where our package is not installed, npx would otherwise offer to download a package of somebody else with this name.
  const line = isCheckout ? `npm run ${name}` : `${isPackage ? 'npx --no -- ' : ''}switchyard ${name}`;
  return args === '' ? line : `${commandPrefix(name)} ${args}`;
}

/** Returns the beginning of {@link commandLine}, which arguments follow. */
export function commandPrefix(name: string): string {
  return isCheckout ? `${commandLine(name)} --` : commandLine(name);
}
