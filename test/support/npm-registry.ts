import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Lock, LockedPackage } from '../../src/agents/programs/lock.ts';
import type { AgentPackage } from '../../src/agents/programs/packages.ts';

/** A package of a {@link NpmRegistry}: its manifest, and its files by path. */
export interface PublishedPackage {
  readonly manifest: { readonly name: string; readonly version: string } & Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, string>>;
}

/** A registry on the loopback for the real npm. */
export interface NpmRegistry {
  readonly url: string;
  /** The names of the requested tarballs. */
  readonly requested: string[];
  /** Publishes a package, or replaces it; returns its entry for a lock. */
  publish(each: PublishedPackage): LockedPackage;
  /** Sends nothing in response to requests of this package's tarball until the function that it returns is called. */
  hold(name: string): () => void;
  close(): Promise<void>;
}

/** Starts a registry. */
export async function startNpmRegistry(): Promise<NpmRegistry> {
  const published = new Map<string, { manifest: PublishedPackage['manifest']; tarball: Buffer }>();
  const held = new Map<string, ServerResponse[]>();
  const requested: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    const [, name = '', isTarball] = /^\/(.+?)(\/-\/.*)?$/.exec(path) ?? [];
    const found = published.get(name);
    if (!found) return void response.writeHead(404).end('{}');
    if (isTarball === undefined) {
      const { manifest, tarball } = found;
      const dist = { tarball: `${url}/${name}/-/it.tgz`, integrity: integrityOf(tarball) };
      const versions = { [manifest.version]: { ...manifest, dist } };
      return void response.end(JSON.stringify({ name, 'dist-tags': { latest: manifest.version }, versions }));
    }
    requested.push(name);
    const waiting = held.get(name);
    if (waiting) waiting.push(response);
    else response.end(found.tarball);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requested,
    publish({ manifest, files }) {
      const tarball = pack({ ...files, 'package.json': JSON.stringify(manifest) });
      published.set(manifest.name, { manifest, tarball });
      const { name: _name, files: _files, scripts: _scripts, ...entry } = manifest;
      return { ...entry, integrity: integrityOf(tarball) } as LockedPackage;
    },
    hold(name) {
      const waiting: ServerResponse[] = [];
      held.set(name, waiting);
      return () => {
        held.delete(name);
        for (const response of waiting) response.end(published.get(name)?.tarball);
      };
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** An agent package with a lock of these entries, by name; the first one has the program `bin/it`. */
export function packageWith(
  agentId: string,
  version: string,
  entries: Readonly<Record<string, LockedPackage>>,
): { package: AgentPackage; lock: Lock } {
  const [name = ''] = Object.keys(entries);
  const packages = Object.fromEntries(Object.entries(entries).map(([each, entry]) => [`node_modules/${each}`, entry]));
  return {
    package: { agentId, program: agentId, name, version, packages: [name], file: 'bin/it', downloadMb: 1 },
    lock: { name: agentId, lockfileVersion: 3, packages },
  };
}

const integrityOf = (content: Buffer) => `sha512-${createHash('sha512').update(content).digest('base64')}`;

// A tar archive in the form of npm's packages: everything is in a directory "package".
function pack(files: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(files).flatMap(([path, content]) => {
    const data = Buffer.from(content);
    const header = Buffer.alloc(512);
    const octal = (value: number, size: number) => `${value.toString(8).padStart(size - 1, '0')}\0`;
    header.write(`package/${path}`, 0);
    header.write(octal(0o755, 8) + octal(0, 8) + octal(0, 8) + octal(data.length, 12) + octal(0, 12), 100);
    header.write('        0', 148);
    header.write('ustar\x0000', 257);
    header.write(
      `${octal(
        header.reduce((sum, byte) => sum + byte, 0),
        7,
      )}\0 `.slice(0, 8),
      148,
    );
    return [header, data, Buffer.alloc((512 - (data.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(1_024)]));
}
