import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SessionSaver } from '../../../src/checkpoints/save/session-saver.ts';
import { createSaveFixture, readDirectories, readSaved, type SaveFixture } from '../../support/save-fixture.ts';

let fixtures: SaveFixture[];
beforeEach(() => {
  fixtures = Array.from({ length: 6 }, createSaveFixture);
});
afterEach(() => Promise.all(fixtures.map((fixture) => fixture.remove())));

/** Returns pauses that many saves share: all that wait continue in the same moment, each after a few steps of its own. */
function createSharedPauses() {
  const waiting: (() => void)[] = [];
  const resume = () => {
    for (const each of waiting.splice(0)) each();
  };
  return (steps: number) => {
    let step = 0;
    return () => {
      if (++step % steps !== 0) return null;
      setImmediate(resume);
      return new Promise<void>((resolve) => waiting.push(resolve));
    };
  };
}

it('saves several sessions at once, whose waits end at the same time', { timeout: 240_000 }, async () => {
  const savers = fixtures.map((fixture, n) => {
    mkdirSync(join(fixture.dir, 'workspace/.git'), { recursive: true });
    mkdirSync(join(fixture.dir, `workspace/build-${n}`));
    writeFileSync(join(fixture.dir, 'workspace/.git/HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(fixture.dir, 'workspace/.gitignore'), 'build-*\n*.log\n');
    for (const name of [`source-${n}.ts`, `build-${n}/output-${n}.js`, `output-${n}.log`])
      writeFileSync(join(fixture.dir, 'workspace', name), `${name}\n`);
    return new SessionSaver({ ...fixture, from: null });
  });
  const shared = createSharedPauses();
  const contents = new Map<number, Parameters<typeof readSaved>[1]>();
  // Most directories do not change between the saves.
  for (let round = 0; round < 40; round++) {
    await Promise.all(
      savers.map(async (saver, n) => {
        const fixture = fixtures[n] as SaveFixture;
        writeFileSync(join(fixture.dir, `workspace/source-${n}.ts`), `${round}\n`);
        const saved = await saver.save({ withIgnored: true, pause: shared(1 + ((round + n) % 7)) });
        if (saved === null) return;
        fixture.upload(saved);
        saver.commit();
        contents.set(n, saved.content);
      }),
    );
    for (const [n, content] of contents) {
      const fixture = fixtures[n] as SaveFixture;
      expect(await readSaved(fixture, content), `session ${n}, round ${round}`).toEqual(readDirectories(fixture));
    }
  }
});
