import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** The public files of the console: its page, and the files that the page loads. They are the same for everybody. */
export interface ConsoleFiles {
  /** The HTML page; null if the console has not been built. */
  page(): Promise<string | null>;
  /** A script, style sheet or image by its name, which changes with its content; null for any other name. */
  asset(name: string): Promise<Asset | null>;
  /** The favicon, for requests of `/favicon.ico`; null if the console has not been built. */
  icon(): Promise<Asset | null>;
}

/** See {@link ConsoleFiles}. */
export interface Asset {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Reads the output of `npm run build:console` from a directory, on the first request. */
export function createConsoleFiles(directory: string): ConsoleFiles {
  let read: Promise<{ page: string | null; assets: ReadonlyMap<string, Asset> }> | null = null;
  const load = () => {
    read ??= readAll(directory).catch((error: NodeJS.ErrnoException) => {
      // The next request looks again: the console may be built by then.
      read = null;
      if (error.code === 'ENOENT') return { page: null, assets: new Map() };
      throw error;
    });
    return read;
  };
  return {
    page: async () => (await load()).page,
    // Looked up by name and never by path, so that no name leads out of the directory.
    asset: async (name) => (await load()).assets.get(name) ?? null,
    async icon() {
      for (const [name, asset] of (await load()).assets) if (/^icon-.*\.svg$/.test(name)) return asset;
      return null;
    },
  };
}

async function readAll(directory: string) {
  const page = await readFile(join(directory, 'index.html'), 'utf8');
  const assets = new Map<string, Asset>();
  for (const name of await readdir(join(directory, 'assets'))) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const bytes = await readFile(join(directory, 'assets', name));
    assets.set(name, { bytes: new Uint8Array(bytes), type });
  }
  return { page, assets };
}
