import { expect, it } from 'vitest';
import { failureOf } from '../../src/domain/execution/runs/failures.ts';

it.each(['ENOSPC', 'EDQUOT'])('says that the disk is full after %s, and nothing else of the error', (code) => {
  const error = Object.assign(new Error(`${code}: no space left on device, write '/data/secret'`), { code });
  const message = 'The disk of the worker is full, so the service could not run the agent.';
  expect(failureOf(error)).toEqual({ code: 'internal', message, isRetryable: true });
});

it('keeps the message of another error of the service to its log', () => {
  const message = 'The service could not run the agent. The reason is in the log of the worker.';
  expect(failureOf(new Error('EACCES: /data/secret'))).toEqual({ code: 'internal', message, isRetryable: true });
});
