import { DomainError, type ErrorCode } from '../../../common/errors.ts';
import type { OidcError, OidcFailure } from '../../../oidc/errors.ts';

/** The reasons for which a sign-in at an identity provider is refused, with the code and the message of the refusal. */
const refusals = {
  UNKNOWN_PROVIDER: ['NOT_FOUND', 'There is no such identity provider.'],
  EXPIRED: ['UNAUTHENTICATED', 'This sign-in has expired, or it began in another browser. Start again.'],
  USED: ['UNAUTHENTICATED', 'This sign-in was used already. Start again.'],
  UNREACHABLE: ['SERVICE_UNAVAILABLE', 'The identity provider does not answer. Try again.'],
  DENIED: ['FORBIDDEN', 'The identity provider refused the sign-in, or it was cancelled there.'],
  INVALID: ['UNAUTHENTICATED', 'The answer of the identity provider failed a check. Start again.'],
  UNVERIFIED_EMAIL: ['FORBIDDEN', 'The identity provider does not vouch for an email address of yours.'],
  DOMAIN_NOT_ALLOWED: ['FORBIDDEN', 'Email addresses of your domain may not sign in with this identity provider.'],
  OTHER_IDENTITY: [
    'FORBIDDEN',
    'The user with your email address is linked with another account of this identity provider.',
  ],
  USER_DELETED: ['FORBIDDEN', 'Your user was deleted. Ask an administrator.'],
  USER_DEACTIVATED: ['FORBIDDEN', 'Your user is deactivated. Ask an administrator.'],
  NO_ROLE: ['FORBIDDEN', 'You have no role here. Ask an administrator.'],
  OTHER_USER: ['FORBIDDEN', 'You signed in as another user. Confirm as the user that the console shows.'],
  NOT_FRESH: ['FORBIDDEN', 'The identity provider did not ask for your credentials again.'],
  TOKEN_REFUSED: ['FORBIDDEN', 'Your organization signs in with its identity provider, and not with tokens.'],
} as const satisfies Record<string, readonly [ErrorCode, string]>;

/** One of {@link refusals}. */
export type SignOnReason = keyof typeof refusals;

/** A refusal of a sign-in, with its reason for pages that show a text of their own. */
export class SignOnError extends DomainError {
  readonly reason: SignOnReason;

  constructor(reason: SignOnReason) {
    const [code, message] = refusals[reason];
    super(code, message);
    this.name = 'SignOnError';
    this.reason = reason;
  }
}

const reasons = {
  UNREACHABLE: 'UNREACHABLE',
  DENIED: 'DENIED',
  INVALID: 'INVALID',
} as const satisfies Record<OidcFailure, SignOnReason>;

/** Returns the refusal for a failure of an identity provider. */
export const refusalOfFailure = ({ failure }: OidcError): SignOnError => new SignOnError(reasons[failure]);
