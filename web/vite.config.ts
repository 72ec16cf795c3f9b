import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, loadEnv } from 'vite';
import { relay } from './relay-plugin.ts';

/** The address of the service during development of the console, which reads its port from the same variable. */
const serviceAddress = (mode: string) => `http://127.0.0.1:${loadEnv(mode, '.', 'PORT').PORT ?? 4000}`;

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
    target: 'es2022',
    reportCompressedSize: false,
    // React and Relay; a third of this size after compression.
    chunkSizeWarningLimit: 700,
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
