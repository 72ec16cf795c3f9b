import type { Strings } from './kit.ts';

export const shareSession = {
  title: 'Share',
  copyLink: 'Copy link',
  listed: ({ organization }: Strings<'organization'>) =>
    `Anyone who can view sessions of ${organization} can open the link. They must sign in: the link itself gives no access.`,
  unlisted: ({ organization }: Strings<'organization'>) =>
    `This session is unlisted, so others need the link to find it. Anyone who can view sessions of ${organization} can open it. They must sign in: the link itself gives no access.`,
};

export const missingSession = {
  title: 'Session not found',
  text: 'It doesn’t exist, or you don’t have permission to view it. Check the link, or ask the person who sent it which organization the session is in.',
  signedInAs: ({ name }: Strings<'name'>) => `You’re signed in as ${name}.`,
  allSessions: 'View all sessions',
};
