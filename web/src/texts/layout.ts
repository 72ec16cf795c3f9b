import { plural, rich, type Strings } from './kit.ts';

export const connectionBanner = {
  label: 'Connection',
  lost: 'Connection lost. The data on this page may be out of date. Reconnecting…',
  retryNow: 'Retry now',
};

export const keys = {
  ctrl: 'Ctrl',
  showShortcuts: 'Show keyboard shortcuts',
  find: 'Find an action, session or page',
  search: 'Search sessions, or the transcript of the open session',
  searchTranscript: 'Search the transcript',
  nextItem: 'Next item',
  previousItem: 'Previous item',
  nextUnread: 'Next unread session',
  pin: 'Pin or unpin the selected session',
  archive: 'Archive the selected session',
  selectItem: 'Select item',
  shiftClick: 'Shift + click',
  selectRange: 'Select a range of items',
  transcriptStart: 'Start of the transcript',
  transcriptEnd: 'End of the transcript',
  nextOwn: 'Your next message',
  previousOwn: 'Your previous message',
  nextError: 'Next error',
  writeMessage: 'Write a message',
  chooseOption: 'Answer a question (while typing: with Alt)',
  sendMessage: 'Send a message (with Shift: new line)',
  esc: 'Esc',
  stop: 'Stop the agent, or return to the list of sessions',
  title: 'Keyboard shortcuts',
  everywhere: 'On every page',
  inLists: 'In lists and the inbox',
  inInbox: 'In the inbox',
  inSession: 'In a session',
};

export const maintenanceBanner = {
  copied: 'This database is a copy, such as a restored backup, and the original may still be in use.',
  configured:
    'The service was started with MAINTENANCE=true. To end maintenance mode, restart it without that variable.',
  warning:
    'Sessions, automations and webhooks run again in every process that uses this database. If the original database is still in use, both installations do the same work: waiting sessions and automations run twice, and webhooks are sent twice.',
  label: 'Maintenance mode',
  notice: rich('<b>Maintenance mode.</b> No sessions or automations run, and no webhooks are sent. {reason}'),
  started: rich('Started {time}'),
  end: 'End maintenance mode',
  endTitle: 'End maintenance mode?',
  ended: 'Maintenance mode ended.',
};

export const navigation = {
  work: 'Work',
  home: 'Home',
  inbox: 'Inbox',
  usage: 'Usage',
  manage: 'Manage',
  yourAccount: 'Your account',
  serviceUsersAndKeys: 'Service users and keys',
  organizations: 'Organizations',
  agents: 'Agents',
  git: 'Git',
  auditLog: 'Audit log',
  legacyApi: 'Old API calls',
  gettingStarted: 'Getting started',
};

export const palette = {
  goTo: 'Go to',
  label: 'Action, session or page',
  find: 'Find an action, session or page',
  switchTo: ({ name }: Strings<'name'>) => `Switch to ${name}`,
  recentSessions: 'Recent sessions',
  pages: 'Pages',
  inTranscripts: 'In transcripts',
  views: 'Saved views',
};

export const shell = {
  skipToContent: 'Skip to content',
  menu: 'Menu',
  openInbox: 'Open the inbox',
  find: 'Find anything',
  needYou: (count: number) => plural(count, { one: '# session needs you', other: '# sessions need you' }),
  product: 'Switchyard',
  asideLabel: 'Console',
  goTo: 'Go to',
  system: 'System',
  light: 'Light',
  dark: 'Dark',
  theme: 'Theme',
};

export const sideNavigation = {
  backToSessions: 'Back to sessions',
  pages: 'Pages',
};

export const generalActions = {
  lightTheme: 'Use light theme',
  darkTheme: 'Use dark theme',
  systemTheme: 'Use system theme',
  copyLink: 'Copy link to this page',
};

export const signOut = {
  notReachable: 'Can’t reach the service. You are still signed in.',
  withoutToken: 'Sign out without a token?',
  withoutTokenText:
    'Your sign-in link worked once. Without a token, you can’t sign in again until an administrator creates a new link for you.',
  createToken: 'Create a token',
};
