import { writeNumber } from '../ui/number.ts';
import { type Numbers, plural, rich, type Strings } from './kit.ts';

export const change = {
  new: 'new',
};

export const copy = {
  copied: 'Copied.',
  copyRefused: ({ text }: Strings<'text'>) => `Your browser doesn’t allow copying here. Copy this text: ${text}`,
};

export const dialog = {
  discardYourChanges: 'Discard your changes?',
  discardText: 'Your changes haven’t been saved.',
  keepEditing: 'Keep editing',
  discard: 'Discard',
};

export const jsonTree = {
  items: ({ count }: Numbers<'count'>) => plural(count, { one: '# item', other: '# items' }),
  fields: ({ count }: Numbers<'count'>) => plural(count, { one: '# field', other: '# fields' }),
  more: ({ count }: Numbers<'count'>) => `… and ${writeNumber(count)} more`,
};

export const markdown = {
  leadsTo: rich('leads to {destination}'),
  image: 'Image',
  done: 'Done',
  toDo: 'To do',
};

export const more = {
  loadingMore: 'Loading more',
  showMore: 'Show more',
};

export const picker = {
  choices: ({ count }: Numbers<'count'>) => plural(count, { one: '# choice', other: '# choices' }),
  choicesOrMore: ({ count }: Numbers<'count'>) => `${writeNumber(count)} or more choices`,
  use: ({ value }: Strings<'value'>) => `Use ${value}`,
  noResults: 'No matches',
};

export const states = {
  notLoaded: 'Couldn’t load this',
  waitsForService: 'Can’t reach the service. This loads when the connection is back.',
};

export const validity = {
  missing: ({ label }: Strings<'label'>) => `${label} is required.`,
  unchecked: 'Select this to continue.',
  noNumber: 'Enter a number.',
  noDate: 'Enter a complete date.',
  noInteger: 'Enter a whole number.',
  tooLow: ({ min }: Strings<'min'>) => `Enter ${min} or more.`,
  tooHigh: ({ max }: Strings<'max'>) => `Enter ${max} or less.`,
  tooShort: ({ count }: Numbers<'count'>) =>
    `Enter at least ${plural(count, { one: '# character', other: '# characters' })}.`,
  noEmail: 'Enter an email address, such as name@example.com.',
  noUrl: 'Enter a URL, such as https://example.com.',
  invalid: 'This format isn’t valid.',
};

export const status = {
  whySuspended: {
    USER_REQUEST: 'Suspended',
    INACTIVITY: 'Suspended',
    USAGE_LIMIT_EXCEEDED: 'ACU limit reached',
    TOTAL_SESSION_LIMIT_EXCEEDED: 'ACU limit reached',
    ORG_USAGE_LIMIT_EXCEEDED: 'Organization limit reached',
    USER_USAGE_LIMIT_EXCEEDED: 'User limit reached',
    OUT_OF_CREDITS: 'Key budget reached',
    OUT_OF_QUOTA: 'Out of quota',
    NO_QUOTA_ALLOCATION: 'No quota',
    PAYMENT_DECLINED: 'Payment declined',
    ERROR: 'Suspended after an error',
  },
  terminated: 'Terminated',
  expired: 'Expired',
  queued: 'Queued',
  starting: 'Starting',
  resuming: 'Resuming',
  suspended: 'Suspended',
  finished: 'Finished',
  needsYou: 'Needs you',
  needsApproval: 'Needs approval',
  providerLimit: 'Provider limit',
  working: 'Working',
};

export const time = {
  justNow: 'just now',
};

export const toasts = {
  notifications: 'Notifications',
};

export const problemText = {
  httpsUrl: 'Enter a URL that starts with https://.',
  eachOfThese: 'Each of these',
  this: 'This',
};
