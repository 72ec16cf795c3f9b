import { describe, expect, it } from 'vitest';
import { type DraftPart, OpenDrafts } from '../../../web/src/session/open-drafts.ts';

const part = (offset: number, text: string, more: Partial<DraftPart> = {}): DraftPart => ({
  ...{ draftId: 'd', kind: 'MESSAGE', toolCallId: null, isDone: false, isTruncated: false },
  ...{ offset, text, ...more },
});
const draftAfter = (...parts: readonly DraftPart[]) => {
  const drafts = new OpenDrafts();
  for (const each of parts) drafts.take(each);
  return drafts.list()[0];
};

describe('the open drafts of a session', () => {
  it('grow, are replaced, lose their front and are discarded', () => {
    expect(draftAfter(part(0, 'ab'), part(2, 'cd'))).toMatchObject({ text: 'abcd', start: 0, revision: 0 });
    expect(draftAfter(part(0, 'abcd'), part(2, 'x'))).toMatchObject({ text: 'abx', revision: 1 });
    expect(draftAfter(part(0, 'abcd'), part(90, 'x', { isTruncated: true }))).toMatchObject({ text: 'x', start: 90 });
    expect(draftAfter(part(0, 'abcd'), part(0, '', { isDone: true }))).toBeUndefined();
    expect(draftAfter(part(0, 'abcd'), part(4, '', { isDone: true }))).toMatchObject({ text: 'abcd', isDone: true });
  });

  it('continue after a break without a new revision, and go if they are not sent again', () => {
    const drafts = new OpenDrafts();
    drafts.take(part(0, 'abc'));
    drafts.take(part(0, 'left', { draftId: 'e' }));
    drafts.expectAgain();
    drafts.take(part(0, 'abcdef'));
    expect(drafts.list()[0]).toMatchObject({ text: 'abcdef', revision: 0 });
    expect(drafts.dropStale()).toBe(true);
    expect(drafts.list().map(({ draftId }) => draftId)).toEqual(['d']);
    drafts.expectAgain();
    drafts.take(part(0, 'other'));
    expect(drafts.list()[0]).toMatchObject({ text: 'other', revision: 1 });
    drafts.expectAgain();
    drafts.take(part(70, 'end', { isTruncated: true }));
    expect(drafts.list()[0]).toMatchObject({ text: 'end', start: 70, revision: 2 });
  });

  it('keep the end of long output', () => {
    const long = draftAfter(
      part(0, 'x'.repeat(200_000), { kind: 'TOOL_OUTPUT' }),
      part(200_000, 'end', { kind: 'TOOL_OUTPUT' }),
    );
    expect(long?.text.length).toBe(65_003);
    expect(long?.start).toBe(135_000);
  });
});
