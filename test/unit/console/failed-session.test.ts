import { expect, it } from 'vitest';
import type { Entry } from '../../../web/src/session/entry.ts';
import { keyLink } from '../../../web/src/session/key-link.ts';
import { transcriptRows } from '../../../web/src/session/transcript-rows.ts';

const entry = (seq: number, fields: object) =>
  ({ id: `e${seq}`, seq, createdAt: '2026-01-01T00:00:00Z', ...fields }) as unknown as Entry;
const error = (seq: number, body: string) => entry(seq, { __typename: 'ErrorEvent', body });
const says = (seq: number, body: string) => entry(seq, { __typename: 'SessionMessage', type: 'AGENT_MESSAGE', body });
const failed = (seq: number) => entry(seq, { __typename: 'StatusEvent', status: 'ERROR', isArchived: false });
const keysOf = (entries: readonly Entry[]) => transcriptRows(entries).map(({ key }) => key);

it('shows an error once, although the log has it as an error, a message and a status', () => {
  const refused = 'OpenAI refuses the key "Team" of the enterprise.';
  const message = `The session stopped with an error: ${refused} Send a message to try again.`;
  expect(keysOf([error(1, refused), says(2, message), failed(3)])).toEqual(['e1']);
  expect(keysOf([error(1, refused), failed(2), says(3, message)])).toEqual(['e1']);
  // An older log, or one without the error.
  expect(keysOf([says(2, message), failed(3)])).toEqual(['e2', 'e3']);
  expect(keysOf([error(1, 'Another error.'), says(2, message), failed(3)])).toEqual(['e1', 'e2', 'e3']);
});

it('shows a notice of missing files as a warning', () => {
  const notice = (seq: number, isWarning: boolean) => entry(seq, { __typename: 'NoticeEvent', body: 'A', isWarning });
  const rows = transcriptRows([notice(1, true), notice(2, false)]);
  expect(rows).toMatchObject([{ tone: 'warn' }, { tone: 'plain' }]);
});

it('shows the output of a failed agent once, although each attempt has it', () => {
  const retry = (seq: number, agentOutput: string | null) =>
    entry(seq, { __typename: 'NoticeEvent', body: 'Again', isWarning: true, agentOutput });
  const last = entry(4, { __typename: 'ErrorEvent', body: 'Failed', agentOutput: 'No disk' });
  const rows = transcriptRows([retry(1, 'No model'), retry(2, 'No model'), retry(3, null), last]);
  expect(rows.map((row) => (row.type === 'line' ? (row.output ?? null) : row.type))).toEqual([
    'No model',
    null,
    null,
    'No disk',
  ]);
});

it('shows a limit once, and a later suspension', () => {
  const limit = entry(1, { __typename: 'LimitEvent', body: 'The key has reached its budget.' });
  const suspended = (seq: number) => entry(seq, { __typename: 'StatusEvent', status: 'SUSPENDED', isArchived: false });
  const running = entry(4, { __typename: 'StatusEvent', status: 'RUNNING', isArchived: false });
  const started = entry(5, { __typename: 'TurnEvent', phase: 'STARTED', stopReason: null });
  const limited = [limit, says(2, 'The key has reached its budget.'), suspended(3)];
  expect(keysOf(limited)).toEqual(['e1']);
  expect(keysOf([...limited, running, started, suspended(6)])).toEqual(['e1', 'e6']);
});

it('leads to the page on which the viewer can change the key', () => {
  const nobody = { mayHaveKeys: false, mayChangeOrganization: false, mayChangeEnterprise: false };
  const pathOf = (facts: Partial<Parameters<typeof keyLink>[0]>) =>
    keyLink({ source: 'ENTERPRISE', isOwn: true, ...nobody, ...facts })?.path ?? null;
  expect(pathOf({})).toBeNull();
  expect(pathOf({ source: 'USER', mayHaveKeys: true, mayChangeEnterprise: true })).toBe('/manage/my-model-keys');
  expect(pathOf({ mayHaveKeys: true, mayChangeEnterprise: true })).toBe('/manage/model-keys');
  expect(pathOf({ mayHaveKeys: true, mayChangeOrganization: true })).toBe('/manage/my-model-keys');
  expect(pathOf({ source: 'ORGANIZATION', mayChangeOrganization: true })).toBe('/manage/model-keys');
  expect(pathOf({ source: 'NONE', mayHaveKeys: true })).toBe('/manage/my-model-keys');
  // Another user's session: the viewer's own key would not help.
  expect(pathOf({ source: 'USER', isOwn: false, mayHaveKeys: true })).toBeNull();
  expect(pathOf({ source: null, isOwn: false, mayChangeOrganization: true })).toBe('/manage/model-keys');
});
