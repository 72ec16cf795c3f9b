import { OidcError } from './errors.ts';
import type { OidcSettings } from './settings.ts';

/** The maximum number of groups of a user that are read. */
const maxGroups = 1_000;
const maxGroupName = 256;

/** A user as its provider describes it. */
export interface Identity {
  readonly issuer: string;
  /** The user's id at the provider, which never changes and is never given to another user. */
  readonly subject: string;
  /** Null: the provider gave none. */
  readonly email: string | null;
  /** True if the provider vouches for the address. */
  readonly isEmailVerified: boolean;
  readonly name: string | null;
  /** The session at the provider, which its logout names; null: unknown. */
  readonly sid: string | null;
  /** The time when the user entered credentials; null: the provider does not say. */
  readonly authenticatedAt: Date | null;
  /** With the prefix of the provider, sorted; null: the provider is not asked for groups. */
  readonly groups: readonly string[] | null;
}

type Claims = Readonly<Record<string, unknown>>;

type Rules = Pick<OidcSettings, 'groupsClaim' | 'groupPrefix' | 'trustEmail' | 'clockToleranceSeconds'> & {
  readonly now: () => Date;
};

/**
 * Reads an identity from the claims of an ID token that has been checked, and what they lack from `readMore`, the endpoint for
 * more claims of the same subject. Throws an {@link OidcError}.
 */
export async function readIdentity(
  rules: Rules,
  claims: Claims,
  readMore: (subject: string) => Promise<Claims>,
): Promise<Identity> {
  const { groupsClaim, groupPrefix, trustEmail } = rules;
  const { iss, sub, sid } = claims;
  if (typeof iss !== 'string' || typeof sub !== 'string' || sub === '' || sub.length > 255) {
    throw new OidcError('INVALID', 'The ID token has no valid subject.');
  }
  requireIssued(rules, claims.iat);
  const isComplete = typeof claims.email === 'string' && (groupsClaim === undefined || groupsClaim in claims);
  const all: Claims = isComplete ? claims : { ...(await readMore(sub)), ...claims };
  const email = textOf(all.email, 320);
  return {
    issuer: iss,
    subject: sub,
    email: email !== null && /^[^\s@]+@[^\s@]+$/.test(email) ? email : null,
    // Some providers write the boolean as a text. An address that a provider calls unverified is never trusted.
    isEmailVerified: isTrue(all.email_verified) || (trustEmail && all.email_verified === undefined),
    name: textOf(all.name, 200),
    sid: textOf(sid, 255),
    authenticatedAt: readTime(rules, claims.auth_time),
    groups: groupsClaim === undefined ? null : readGroups(all[groupsClaim], groupPrefix),
  };
}

const isTrue = (value: unknown) => value === true || value === 'true';

function requireIssued({ now, clockToleranceSeconds }: Rules, iat: unknown): void {
  const latest = now().getTime() / 1_000 + clockToleranceSeconds;
  if (typeof iat === 'number' && iat <= latest) return;
  throw new OidcError('INVALID', 'The ID token was issued in the future: one of the clocks is wrong.');
}

// A clock that is ahead within the tolerance must not prolong what the time allows.
function readTime({ now }: Rules, value: unknown): Date | null {
  return typeof value === 'number' ? new Date(Math.min(value * 1_000, now().getTime())) : null;
}

function textOf(value: unknown, max: number): string | null {
  const isText = typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
  return isText && value.trim() !== '' && value.length <= max ? value.trim() : null;
}

/** Reads a claim with a list of groups, or with one group. A missing claim is an empty list: the user is in no group. */
function readGroups(value: unknown, prefix: string): string[] {
  const names = typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
  const read = names.flatMap((name) => textOf(name, maxGroupName) ?? []).map((name) => prefix + name);
  return [...new Set(read)].sort().slice(0, maxGroups);
}
