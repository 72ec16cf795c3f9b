import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeBillOfMaterials } from './bill-of-materials.ts';
import { readContainedPackages, readPackage } from './contained-packages.ts';
import { makeManifest } from './make-manifest.ts';
import { describeLicenses } from './third-party-licenses.ts';

const root = join(import.meta.dirname, '../..');

/** The parts of a build, which rolldown.config.mjs lists. Paths are relative to `dist/`, folders to the root. */
export interface BuiltParts {
  readonly files: readonly string[];
  /** The packages that the files import. */
  readonly imports: readonly string[];
  /** The folders of the packages whose code is in the files. */
  readonly contained: readonly string[];
}

/** Documents of the package. The pages about the code are for those who have it. */
const documents = ['LICENSE', 'README.md', 'CHANGELOG.md', 'SECURITY.md'];
const isPage = (path: string) => /^(?:wire\/)?[\w-]+\.md$/.test(path) && path !== 'architecture.md';

/**
 * Writes the npm package of the service into a directory, which is emptied first. The build must be there. The same build gives
 * the same package.
 */
export async function writePackage(directory: string): Promise<void> {
  const parts = await readParts();
  await rm(directory, { recursive: true, force: true });
  const copied = [
    ...documents,
    ...(await filesIn('docs')).filter((path) => isPage(path)).map((path) => `docs/${path}`),
    ...(await filesIn('prisma/migrations')).map((path) => `prisma/migrations/${path}`),
    ...(await filesIn('dist/embedded')).map((path) => `dist/embedded/${path}`),
    ...(await filesIn('dist/web/assets')).map((path) => `dist/web/assets/${path}`),
    'dist/web/index.html',
    ...parts.files.map((path) => `dist/${path}`),
  ];
  for (const path of copied) await copyFile(path, directory);
  const manifest = makeManifest(JSON.parse(await readText('package.json')), parts.imports);
  await writeFile(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const contained = await readContainedPackages(root, parts.contained);
  await writeFile(join(directory, 'THIRD-PARTY-LICENSES.md'), describeLicenses(contained));
  const dependencies = await Promise.all(parts.imports.map((name) => readPackage(join(root, 'node_modules', name))));
  const lock = JSON.parse(await readText('package-lock.json'));
  await writeFile(
    join(directory, 'sbom.cdx.json'),
    makeBillOfMaterials(manifest, [...contained, ...dependencies], lock),
  );
}

async function readParts(): Promise<BuiltParts> {
  const texts = await Promise.all(['service', 'programs'].map((name) => readText(`dist/${name}.parts.json`)));
  const builds = texts.map((text) => JSON.parse(text) as BuiltParts);
  const union = (key: keyof BuiltParts) => [...new Set(builds.flatMap((build) => build[key]))].sort();
  return { files: union('files'), imports: union('imports'), contained: union('contained') };
}

async function copyFile(path: string, directory: string): Promise<void> {
  const target = join(directory, path);
  await mkdir(dirname(target), { recursive: true });
  if (path.endsWith('.js')) {
    // The package has no source maps: they are as large as the rest of it.
    const text = (await readText(path)).replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
    await writeFile(target, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  } else await cp(join(root, path), target);
}

/** The files in a folder of the repository, sorted; paths relative to it. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.map((path) => path.slice(join(root, folder).length + 1)).sort();
}

function readText(path: string): Promise<string> {
  return readFile(join(root, path), 'utf8');
}
