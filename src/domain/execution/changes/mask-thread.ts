// The program of the thread that masks large changes.
import { serveTasks } from '../../../threads/serve-tasks.ts';
import { createSpanFinder } from '../runs/secret-spans.ts';
import { bytesOf, type MaskAnswer, type MaskTask, maskChanges } from './mask-changes.ts';

serveTasks(({ values, files, patch }: MaskTask): MaskAnswer => {
  const findSpans = createSpanFinder(values);
  if (findSpans === null) return { files, patch };
  return maskChanges({ files, patch: patch === null ? null : bytesOf(patch) }, findSpans);
});
