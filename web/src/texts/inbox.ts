import { type Numbers, plural, type Strings } from './kit.ts';

export const inbox = {
  title: 'Inbox',
  loading: 'Loading inbox',
  scope: 'Sessions in the inbox',
  scopes: { mine: 'Mine', all: 'Everyone’s' },
  groups: { needsYou: 'Needs you', pinned: 'Pinned', working: 'Working', done: 'Done' },
  noSessions: 'No sessions yet',
  noneOfMine: 'No sessions of yours yet',
  showMore: ({ group }: Strings<'group'>) => `Show more in ${group}`,
  notifyMe: 'Notify me when a session needs me',
  stopNotifying: 'Stop notifying me',
  notificationsBlocked: 'Your browser blocks notifications from this site. Allow them in its settings.',
  notificationsOn: 'You’ll be notified while the console is open in this browser.',
  resize: 'Width of the inbox',
  archiveAll: 'Archive all',
  archiveAllTitle: ({ count, digits, group }: Numbers<'count'> & Strings<'digits' | 'group'>) =>
    plural(count, { one: `Archive # session in ${group}?`, other: `Archive # sessions in ${group}?` }, digits),
};

export const inboxRow = {
  unread: 'Unread',
  question: 'Question',
  permission: 'Permission',
  reply: 'Reply',
  pinSession: 'Pin session',
  unpinSession: 'Unpin session',
  pin: ({ title }: Strings<'title'>) => `Pin ${title}`,
  unpin: ({ title }: Strings<'title'>) => `Unpin ${title}`,
  archive: ({ title }: Strings<'title'>) => `Archive ${title}`,
};
