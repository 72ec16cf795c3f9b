import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** The functions with the most self time, from the profile that Node wrote into a folder at its end. */
export async function topFunctions(folder: string, count = 10): Promise<string[]> {
  const name = (await readdir(folder)).find((file) => file.endsWith('.cpuprofile'));
  if (name === undefined) throw new Error(`There is no CPU profile in ${folder}: the server did not end by itself.`);
  const profile = JSON.parse(await readFile(join(folder, name), 'utf8')) as CpuProfile;
  const locations = new Map(profile.nodes.map(({ id, callFrame }) => [id, locationOf(callFrame)]));
  const took = new Map<string, number>();
  let busy = 0;
  for (const [n, node] of profile.samples.entries()) {
    const location = locations.get(node) ?? '?';
    if (location === '(idle)' || location === '(root)') continue;
    const delta = profile.timeDeltas[n] ?? 0;
    busy += delta;
    took.set(location, (took.get(location) ?? 0) + delta);
  }
  return [...took]
    .sort((a, b) => b[1] - a[1])
    .slice(0, count)
    .map(([location, each]) => `${((each / busy) * 100).toFixed(1).padStart(5)} %  ${location}`);
}

function locationOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  if (url === '') return functionName;
  const path = url.startsWith('file:') ? fileURLToPath(url) : url;
  const inModules = path.split('/node_modules/').at(-1) ?? path;
  const inTree = inModules === path ? path.replace(`${process.cwd()}/`, '') : inModules;
  return `${functionName || '(anonymous)'}  ${inTree || basename(path)}:${lineNumber + 1}`;
}
