import { describe, expect, it } from 'vitest';
import { firstTab, type PaneTab, readLastTab, writeLastTab } from '../../../web/src/session/first-tab.ts';

const empty = { changes: false, terminal: false, files: false, plan: false, output: false };

/** The first tab of session "a" after the user selected a tab in session "b". */
const firstAfter = (tab: PaneTab, contents: Parameters<typeof firstTab>[2]) =>
  firstTab({ tab, sessionId: 'b' }, 'a', contents);

describe('the first tab of a session page', () => {
  it('is the last one of the user if it has content', () => {
    expect(firstAfter('files', { ...empty, files: true, changes: true })).toBe('files');
    expect(firstAfter('details', { ...empty, changes: true })).toBe('details');
  });

  it('is otherwise that of the changes, the plan or the details', () => {
    expect(firstAfter('files', { ...empty, changes: true, plan: true })).toBe('changes');
    expect(firstAfter('terminal', { ...empty, plan: true, files: true })).toBe('plan');
    expect(firstAfter('output', { ...empty, files: true })).toBe('details');
    expect(firstTab(null, 'a', empty)).toBe('details');
  });

  it('is always the last one of the same session', () => {
    expect(firstTab({ tab: 'files', sessionId: 'a' }, 'a', { ...empty, changes: true })).toBe('files');
  });

  it('is remembered with its session, or without one by earlier versions', () => {
    const last = { tab: 'terminal', sessionId: 'a' } as const;
    expect(readLastTab(writeLastTab(last))).toEqual(last);
    expect(readLastTab('files')).toEqual({ tab: 'files', sessionId: undefined });
    expect([readLastTab('unknown a'), readLastTab(null)]).toEqual([null, null]);
  });
});
