import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import type { ChunkingContext, CodeSplittingGroup } from 'rolldown';
import { defineConfig, loadEnv } from 'vite';
import { relay } from './relay-plugin.ts';

/** The address of the service during development of the console, which reads its port from the same variable. */
const serviceAddress = (mode: string) => `http://127.0.0.1:${loadEnv(mode, '.', 'PORT').PORT ?? 4000}`;

/** The entry and all that it imports statically: each page loads it. */
const firstModules = new Set<string>();

function isFirst(id: string, context: ChunkingContext): boolean {
  if (firstModules.size === 0) {
    const collect = (each: string) => {
      if (firstModules.has(each)) return;
      firstModules.add(each);
      for (const imported of context.getModuleInfo(each)?.importedIds ?? []) collect(imported);
    };
    collect(fileURLToPath(new URL('src/main.tsx', import.meta.url)));
  }
  return firstModules.has(id);
}

/**
 * Two chunks instead of dozens of small ones. A browser has six connections to an HTTP/1.1 server: if a page had twenty
 * chunks, its requests for data would wait for them on a slow network.
 */
const chunkGroups: CodeSplittingGroup[] = [
  { debugName: 'first', name: (id, context) => (isFirst(id, context) ? 'first' : null), priority: 2 },
  { name: 'shared', minShareCount: 3, maxModuleSize: 30_000, priority: 1 },
];

export default defineConfig(({ command, mode }) => ({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Outside the console's own API, /console/session. During development the pages are at the root, as in production.
  base: command === 'build' ? '/console/' : '/',
  publicDir: false,
  plugins: [relay(), react()],
  build: {
    outDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    emptyOutDir: true,
    assetsDir: 'assets',
    // A data: URL would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Read by scripts/package/, and served to nobody.
    license: { fileName: 'licenses.json' },
    target: 'es2022',
    reportCompressedSize: false,
    // React and Relay; a third of this size after compression.
    chunkSizeWarningLimit: 700,
    rolldownOptions: { output: { codeSplitting: { groups: chunkGroups } } },
  },
  server: {
    proxy: {
      '/graphql': { target: serviceAddress(mode), ws: true },
      '/console/session': { target: serviceAddress(mode) },
      '/attachments': { target: serviceAddress(mode) },
      '/workspace-files': { target: serviceAddress(mode) },
    },
  },
}));
