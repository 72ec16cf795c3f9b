import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import type { SandboxDriver } from '../../src/agents/sandbox/driver.ts';
import type { SandboxSettings } from '../../src/agents/sandbox/settings.ts';
import { makeDirs, openTestDrivers } from '../support/agents.ts';
import { testDriver } from '../support/driver-conformance.ts';
import { openRemoteDriver } from '../support/remote-driver.ts';
import { sandbox, whyNoSandbox } from '../support/sandbox.ts';

const problem = await whyNoSandbox();
if (problem !== null) {
  if (process.env.CI) throw new Error(problem);
  process.stderr.write(`Skipping the driver bwrap. ${problem}\n`);
}

const onThisHost = (settings: SandboxSettings) => ({
  settings,
  open: async (): Promise<SandboxDriver> =>
    (await openTestDrivers({ choice: 'auto', dirs: makeDirs() })).driverFor(settings),
});

async function openRemote() {
  const driver = await openRemoteDriver();
  onTestFinished(() => driver.stop());
  return driver;
}

testDriver('none', onThisHost(sandbox({ driver: 'none' })));
testDriver('command', onThisHost(sandbox({ driver: 'command', command: ['env', 'WRAPPED=yes'] })));
if (problem === null) {
  testDriver('bwrap', onThisHost(sandbox({ tmpMb: 1 })));
  testDriver('bwrap without a network', onThisHost(sandbox({ tmpMb: 1, network: 'gateway' })));
}
testDriver('of another machine', { settings: null, open: openRemote });

it('a process whose machine is lost has ended, and says why', async () => {
  const driver = await openRemote();
  const sandboxOfRun = await driver.open({ sessionId: '0'.repeat(32), settings: null, isNew: false });
  const agent = await sandboxOfRun.start({ command: ['cat'], env: {} });
  driver.machine.kill('SIGKILL');
  expect(await agent.exited).toEqual({
    code: null,
    signal: null,
    reason: 'the connection to its machine was lost',
  });
  await agent.stop({ stdinMs: 0, termMs: 0 });
  if (!agent.stdout.destroyed) await once(agent.stdout, 'close');
});
