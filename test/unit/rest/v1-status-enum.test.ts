import { expect, test } from 'vitest';
import { type StatusFields, statusEnum, v1Statuses } from '../../../src/api/rest/v1/status-enum.ts';
import { sessionStatusDetails, sessionStatuses } from '../../../src/domain/sessions/status.ts';

const at = (fields: Partial<StatusFields>): StatusFields => ({
  status: 'running',
  statusDetail: null,
  request: null,
  requestFrom: null,
  endedBy: null,
  isFresh: false,
  ...fields,
});

test.each<[string, Partial<StatusFields>]>([
  ['working', { status: 'new' }],
  ['working', { status: 'claimed' }],
  ['working', { status: 'running', statusDetail: 'working' }],
  ['resumed', { status: 'running', statusDetail: 'working', isFresh: true }],
  ['blocked', { status: 'running', statusDetail: 'waiting_for_user' }],
  ['blocked', { status: 'running', statusDetail: 'waiting_for_approval' }],
  ['blocked', { status: 'running', statusDetail: 'waiting_for_user', isFresh: true }],
  ['suspend_requested', { status: 'running', statusDetail: 'working', request: 'suspend', requestFrom: 'api' }],
  ['suspend_requested_frontend', { status: 'running', request: 'suspend', requestFrom: 'console' }],
  ['suspend_requested', { status: 'claimed', request: 'suspend', requestFrom: 'api' }],
  ['suspend_requested', { status: 'suspended', statusDetail: 'user_request', requestFrom: 'api' }],
  ['suspend_requested_frontend', { status: 'suspended', statusDetail: 'user_request', requestFrom: 'console' }],
  ['blocked', { status: 'suspended', statusDetail: 'inactivity' }],
  ['blocked', { status: 'suspended', statusDetail: 'usage_limit_exceeded', requestFrom: 'console' }],
  ['resume_requested', { status: 'resuming', request: 'resume', requestFrom: 'api' }],
  ['resume_requested_frontend', { status: 'resuming', request: 'resume', requestFrom: 'console' }],
  ['finished', { status: 'exit', statusDetail: 'finished', endedBy: 'finished' }],
  ['finished', { status: 'exit', endedBy: 'terminated' }],
  ['expired', { status: 'exit', endedBy: 'expired' }],
  ['blocked', { status: 'error' }],
])('%s: %j', (word, fields) => {
  expect(statusEnum(at(fields))).toBe(word);
});

test('every status with every detail has a documented status_enum', () => {
  const all = sessionStatuses.flatMap((status) =>
    [null, ...sessionStatusDetails].map((statusDetail) => statusEnum(at({ status, statusDetail }))),
  );
  expect(all.length).toBe(sessionStatuses.length * (sessionStatusDetails.length + 1));
  expect(all.filter((word) => !v1Statuses.includes(word))).toEqual([]);
});
