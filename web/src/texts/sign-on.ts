import { writeNumber } from '../ui/number.ts';
import type { Numbers, Strings } from './kit.ts';

export const signOn = {
  continueWith: ({ label }: Strings<'label'>) => `Continue with ${label}`,
  or: 'or',
  signingIn: 'Signing in…',
  confirmWith: ({ label }: Strings<'label'>) => `Confirm with ${label}`,
  confirmed: 'Confirmed',
  confirmedHint: 'You can close this tab and continue in the other one.',
  confirmIntro: ({ label }: Strings<'label'>) =>
    `For security, confirm it’s you: sign in with ${label} again. It opens in a new tab.`,
  confirmFailed: 'Your sign-in was not confirmed',
  tryAgain: 'Try again',
  noProvider: 'You aren’t signed in with an identity provider. Close this tab.',
  needsStorage: 'This browser keeps no data for this page, which a sign-in needs. Allow it, and try again.',
  unexpectedStatus: ({ status }: Numbers<'status'>) => `The service responded with status ${writeNumber(status)}.`,
  reasons: {
    UNKNOWN_PROVIDER: 'This identity provider is no longer set up. Reload the page.',
    EXPIRED: 'This sign-in has expired, or it began in another browser. Start again.',
    USED: 'This sign-in was used already. Start again.',
    UNREACHABLE: 'The identity provider doesn’t answer. Try again in a moment.',
    DENIED: 'The identity provider refused the sign-in, or you cancelled it there.',
    INVALID: 'The answer of the identity provider failed a check. Start again.',
    UNVERIFIED_EMAIL:
      'The identity provider doesn’t vouch for your email address. Verify the address there, or ask an administrator.',
    DOMAIN_NOT_ALLOWED:
      'Email addresses of your domain can’t sign in with this identity provider. Ask an administrator.',
    OTHER_IDENTITY:
      'The user with your email address is linked with another account of this identity provider. Ask an administrator.',
    USER_DELETED: 'Your user was deleted. Ask an administrator.',
    USER_DEACTIVATED: 'Your user is deactivated. Ask an administrator.',
    NO_ROLE: 'You have no role here. Ask an administrator to give you one.',
    OTHER_USER: 'You signed in as another user. Confirm as the user that the console shows.',
    NOT_FRESH: 'The identity provider didn’t ask for your credentials again, so this doesn’t count as a confirmation.',
    TOKEN_REFUSED: 'Your organization signs in with its identity provider, and not with tokens.',
  },
};
