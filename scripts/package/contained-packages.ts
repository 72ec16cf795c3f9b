import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A package whose code is in ours. */
export interface ContainedPackage {
  readonly name: string;
  readonly version: string;
  /** The SPDX identifier or expression. */
  readonly license: string;
  /** The texts of its licence and notice; empty: it has none. */
  readonly text: string;
}

/** A package in the list that Vite writes of the console's. */
interface ConsolePackage extends Omit<ContainedPackage, 'license'> {
  readonly identifier: string | null;
}

/** Lists the packages whose code is in the built service or in the console, sorted by name, each version once. */
export async function readContainedPackages(root: string, folders: readonly string[]): Promise<ContainedPackage[]> {
  const ofConsole = JSON.parse(await readFile(join(root, 'dist/web/licenses.json'), 'utf8')) as ConsolePackage[];
  const all = [
    ...(await Promise.all(
      [...folders, 'node_modules/swagger-ui-dist'].map((folder) => readPackage(join(root, folder))),
    )),
    ...ofConsole.map(({ identifier, name, version, text }) => ({
      name,
      version,
      text: text ?? '',
      license: identifier ?? 'not stated',
    })),
  ];
  const unique = new Map(all.map((each) => [`${each.name} ${each.version}`, each]));
  return [...unique].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

/** Reads the package in a folder. */
export async function readPackage(folder: string): Promise<ContainedPackage> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const names = (await readdir(folder)).filter((name) => /^(?:licen[cs]e|notice)/i.test(name)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const { name, version, license } = manifest;
  return { name, version, license: typeof license === 'string' ? license : 'not stated', text: texts.join('\n\n') };
}
