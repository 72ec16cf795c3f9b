const paneTabs = ['changes', 'terminal', 'files', 'plan', 'output', 'details'] as const;

/** A tab of the pane beside the conversation. */
export type PaneTab = (typeof paneTabs)[number];

/** Returns the tab with a name; null: none has it. */
export const findTab = (name: string | null): PaneTab | null => paneTabs.find((tab) => tab === name) ?? null;

/** The tabs that have something to show when the page opens, as far as the page knows then; the details always have. */
export type TabContents = Readonly<Record<Exclude<PaneTab, 'details'>, boolean>>;

/** The tab that the user selected last, and the session in which that was. */
export interface LastTab {
  readonly tab: PaneTab;
  readonly sessionId: string | undefined;
}

/** Reads what {@link writeLastTab} wrote; null: nothing. */
export function readLastTab(text: string | null): LastTab | null {
  const [name = '', sessionId] = (text ?? '').split(' ');
  const tab = findTab(name);
  return tab && { tab, sessionId };
}

/** Writes a tab for the storage of the browser. */
export const writeLastTab = ({ tab, sessionId }: LastTab): string => `${tab} ${sessionId}`;

/**
 * Returns the tab that the page of a session shows first: that of the user's last visit to it, the user's last one in another session unless
 * it is empty here, the changes, the plan, or the details.
 */
export function firstTab(last: LastTab | null, sessionId: string, contents: TabContents): PaneTab {
  if (last !== null && (last.sessionId === sessionId || last.tab === 'details' || contents[last.tab])) return last.tab;
  if (contents.changes) return 'changes';
  return contents.plan ? 'plan' : 'details';
}
