import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { relay } from './relay-plugin.ts';

/** The address of the service during development of the console; its port comes from the same variable as the service’s. */
const service = `http://127.0.0.1:${env.PORT ?? 4000}`;

export default defineConfig(({ command }) => ({
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
      '/graphql': { target: service, ws: true },
      '/console/session': { target: service },
      '/attachments': { target: service },
    },
  },
}));
