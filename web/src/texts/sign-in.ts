import { writeNumber } from '../ui/number.ts';
import { type Numbers, rich, type Strings } from './kit.ts';

export const confirmDialog = {
  title: 'Confirm with your token',
  titleWithProvider: 'Confirm your sign-in',
  titleWithoutToken: 'Confirm your sign-in',
  confirm: 'Confirm',
  intro:
    'This change can give lasting access to sessions or secrets, so confirm it’s you. The confirmation lasts 10 minutes.',
  tokenPlaceholder: 'cog_… or apk_…',
  userHint: 'Any of your personal access tokens.',
  administratorHint:
    'The token that you signed in with. If you used the link that the service printed, it is the administrator’s token beside it.',
  withoutToken:
    'You have no token yet to confirm with. Ask an administrator for a new sign-in link and open it in this browser. Then repeat this within 10 minutes.',
};

export const signIn = {
  offerAfterEnd:
    'Your previous session ended. This link signs in the user it was created for. Use it only if it is yours.',
  offerSignedIn: ({ name }: Strings<'name'>) =>
    `You’re signed in as ${name}. This link signs in the user it was created for. Use it only if it is yours.`,
  unexpectedStatus: ({ status }: Numbers<'status'>) => `The service responded with status ${writeNumber(status)}.`,
  signedInBefore: 'You were signed in before',
  signedIn: 'You’re already signed in',
  signInWithToken: 'Sign in with a token',
  staySignedIn: 'Stay signed in',
  useLink: 'Use link',
  userLink: 'This link signs in the user it was created for. It works once.',
  signInToSwitchyard: 'Sign in to Switchyard',
  product: 'Start software engineering agents, watch them work, and review their changes.',
  signedOutInOtherTab: 'You signed out in another tab.',
  signedOut: 'You were signed out because your session or its key ended.',
  tokenPlaceholder: 'cog_… or apk_…',
  tokenHint: 'We’ll keep you signed in on this browser. The token itself is not stored.',
  signIn: 'Sign in',
  lostToken: rich(
    'Lost it? Run {npmRunToken} on the server, or {npxToken} if it was installed as a package. With the embedded database, stop the service first.',
  ),
};
