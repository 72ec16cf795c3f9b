import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';

const root = resolve(import.meta.dirname, '../..');

/** The modules that start the service's own programs and threads. */
export const starters: readonly string[] = [
  'agents/sandbox/own-code',
  'agents/profiles/ready',
  'agents/acp/parse-line',
  'checkpoints/restore/restore-checkpoint',
  'checkpoints/save/save-process-client',
  'domain/automations/triggers/create-patterns',
  'domain/execution/changes/mask-changes',
  'domain/execution/structured-output/check-output',
  'domain/open-pull-requests/inert-texts',
];

/**
 * Makes the service under test start built programs and threads, as it does in production: their sources need a loader, which
 * takes several times the CPU of everything that an agent does in a test. So `import.meta.url` of these modules becomes their
 * path in `dist/`, see rolldown.config.mjs; test/support/built.ts builds it.
 */
export const builtPrograms: Plugin = {
  name: 'built-programs',
  enforce: 'pre',
  transform(code, id) {
    const modulePath = relative(resolve(root, 'src'), id).replace(/\.ts$/, '');
    if (!starters.includes(modulePath)) return null;
    const built = pathToFileURL(resolve(root, 'dist', `${modulePath}.js`)).href;
    return { code: code.replaceAll('import.meta.url', JSON.stringify(built)), map: null };
  },
};
