// npm run build: prepares the embedded database that a first start copies, because creating one takes seconds.
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { templatePath, writeTemplate } from './store/pglite-template.ts';
import { openStore } from './store/store.ts';

const isThere = await access(await templatePath()).then(
  () => true,
  () => false,
);
if (!isThere) {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-template-'));
  try {
    const log = { warn: () => undefined, error: () => undefined };
    const store = await openStore({ dataDir, databaseUrl: null, log });
    await store.close();
    await writeTemplate(join(dataDir, 'pglite'));
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
