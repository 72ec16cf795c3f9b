import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { relay } from './relay-plugin.ts';

/** Where a service listens while the console is being worked on. */
const service = 'http://127.0.0.1:4000';

export default defineConfig(({ command }) => ({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // Beside the console's own door, /console/session. While it is worked on, its pages are at the root as they are later.
  base: command === 'build' ? '/console/' : '/',
  publicDir: false,
  plugins: [relay(), react()],
  build: {
    outDir: fileURLToPath(new URL('../dist/web', import.meta.url)),
    emptyOutDir: true,
    assetsDir: 'assets',
    // A data: address would need a hole in the policy of the pages.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    reportCompressedSize: false,
    // React and Relay; what is sent is a third of it.
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
