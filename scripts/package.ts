// npm run package: makes the npm package of the service in dist/package/, and its tarball in dist/, from what npm run build built.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { writePackage } from './package/write-package.ts';

const dist = join(import.meta.dirname, '../dist');
const directory = join(dist, 'package');
await writePackage(directory);
execFileSync('npm', ['pack', '--loglevel', 'error', '--pack-destination', dist], {
  cwd: directory,
  stdio: ['ignore', 'inherit', 'inherit'],
});
