import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sharedNetworkWarning } from '../../src/agents/profiles/shared-networks.ts';
import { loadProfiles } from '../../src/agents/profiles.ts';
import { makeDirs } from '../support/agents.ts';

/** The ids of the profiles that the warning names. */
async function warnedOf(
  agents: readonly { readonly id: string; readonly [setting: string]: unknown }[],
): Promise<string[]> {
  const path = join(makeDirs().homeDir, 'agents.json');
  writeFileSync(path, JSON.stringify({ default: 'p1', agents }));
  const { profiles } = await loadProfiles(path);
  const own = agents.flatMap(({ id }) => profiles.get(id) ?? []);
  expect(own).toHaveLength(agents.length);
  return [...(sharedNetworkWarning(own) ?? '').matchAll(/"(p\d)"/g)].flatMap(([, id]) => id ?? []);
}

it('names the profiles whose agents share the network of the host', async () => {
  const names = await warnedOf([
    { id: 'p1', command: ['agent'] },
    { id: 'p2', command: ['agent'], sandbox: 'none' },
    { id: 'p3', command: ['agent'], sandbox: 'bwrap' },
    { id: 'p4', command: ['agent'], sandbox: { network: 'gateway' } },
    { id: 'p5', command: ['agent'], sandbox: { driver: 'none', network: 'gateway' } },
    { id: 'p6', command: ['agent'], sandbox: { command: ['vm'], network: 'gateway' } },
    { id: 'p7', command: ['agent'], sandbox: { command: ['vm'] } },
  ]);
  expect(names).toEqual(['p1', 'p2', 'p3', 'p5', 'p7']);
});

it('is silent if no agent shares the network', async () => {
  expect(await warnedOf([{ id: 'p1', command: ['agent'], sandbox: { network: 'gateway' } }])).toEqual([]);
});

it('is silent about the demo agent, which starts no servers', async () => {
  const { profiles } = await loadProfiles(null);
  const demo = profiles.get('demo');
  expect(demo?.sandbox).toBeNull();
  expect(sharedNetworkWarning(demo ? [demo] : [])).toBeNull();
});
