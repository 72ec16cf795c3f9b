import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The AGENTS_CONFIG of tests that name none: agents that this machine has do not count. */
export const demoAgentOnly = join(import.meta.dirname, 'demo-agent-only.json');

/** Writes an AGENTS_CONFIG file whose default is the demo agent with changed settings (named as in the file), and with more agents. */
export async function writeProfiles(
  settings: Record<string, unknown>,
  ...others: Record<string, unknown>[]
): Promise<string> {
  const path = join(tmpdir(), `switchyard-profiles-${process.pid}-${Math.random().toString(36).slice(2)}.json`);
  const graces = { cancel: 2_000, stdin: 1_000, term: 300 };
  writeFileSync(
    path,
    JSON.stringify({
      default: 'demo',
      agents: [{ id: 'demo', stop_graces_ms: graces, ...settings }, ...others],
    }),
  );
  return path;
}
