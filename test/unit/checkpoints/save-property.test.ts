import { appendFileSync, chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CheckpointContent } from '../../../src/checkpoints/driver.ts';
import { SessionSaver } from '../../../src/checkpoints/save/session-saver.ts';
import { createSaveFixture, readDirectories, readSaved } from '../../support/save-fixture.ts';

const roots = ['workspace', 'home', 'workspace/repo', 'workspace/repo/build', 'home/.cache'];
const names = ['a', 'b', 'x.log', 'build', '.gitignore', 'd'];
const path = fc
  .tuple(fc.constantFrom(...roots), fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }))
  .map(([root, parts]) => [root, ...parts].join('/'));
const action = fc.oneof(
  fc.record({ type: fc.constant('write' as const), path, text: fc.string({ maxLength: 20 }) }),
  fc.record({ type: fc.constant('append' as const), path, text: fc.string({ maxLength: 5 }) }),
  fc.record({ type: fc.constant('rules' as const), text: fc.constantFrom('build\n', '*.log\n', 'a\nb/\n', '') }),
  fc.record({ type: fc.constantFrom('directory' as const, 'remove' as const, 'link' as const, 'mode' as const), path }),
  fc.record({ type: fc.constant('move' as const), path, target: path }),
  fc.record({ type: fc.constant('save' as const), withIgnored: fc.boolean(), isCommitted: fc.boolean() }),
  fc.record({ type: fc.constant('restart' as const) }),
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Does what an action says to the files, if that is possible. */
function act(step: Exclude<Action, { type: 'save' | 'restart' }>, at: (path: string) => string): void {
  try {
    if (step.type === 'rules') writeFileSync(at('workspace/repo/.gitignore'), step.text);
    else {
      mkdirSync(dirname(at(step.path)), { recursive: true });
      if (step.type === 'write') writeFileSync(at(step.path), step.text);
      else if (step.type === 'append') appendFileSync(at(step.path), step.text);
      else if (step.type === 'directory') mkdirSync(at(step.path), { recursive: true });
      else if (step.type === 'remove') rmSync(at(step.path), { recursive: true });
      else if (step.type === 'link') symlinkSync('anywhere', at(step.path));
      else if ('target' in step) renameSync(at(step.path), at(step.target));
      else chmodSync(at(step.path), 0o750);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

it('saves the directories as they are, after any changes, saves, aborted saves and restarts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 60 }), async (steps) => {
      const fixture = createSaveFixture();
      try {
        mkdirSync(join(fixture.directories.workspace, 'repo/.git'), { recursive: true });
        let content: CheckpointContent | null = null;
        let saver = new SessionSaver({ ...fixture, from: null });
        const save = async (withIgnored: boolean, isCommitted: boolean) => {
          const saved = await saver.save({ withIgnored, pause: () => null });
          if (saved === null) return;
          fixture.upload(saved);
          if (isCommitted) {
            saver.commit();
            content = saved.content;
          } else saver.abort();
        };
        for (const step of steps) {
          if (step.type === 'save') await save(step.withIgnored, step.isCommitted);
          else if (step.type === 'restart') saver = new SessionSaver({ ...fixture, from: content });
          else act(step, (relative) => join(fixture.dir, relative));
        }
        await save(true, true);
        expect(await readSaved(fixture, content as unknown as CheckpointContent)).toEqual(readDirectories(fixture));
      } finally {
        await fixture.remove();
      }
    }),
    { numRuns: 60 },
  );
});
