import { homedir } from 'node:os';
import { join } from 'node:path';

/** The variables of commands that talk to a service. */
export interface ClientEnvironment {
  /** SWITCHYARD_URL, the address of the service; null if it is not set. */
  readonly address: string | null;
  /** SWITCHYARD_TOKEN; null if it is not set. */
  readonly token: string | null;
  /** The directory of the user's settings: XDG_CONFIG_HOME, on Windows APPDATA, otherwise `~/.config`. */
  readonly configDirectory: string;
  /** True in a session of SSH, where no browser of the person can be opened. */
  readonly isRemote: boolean;
}

/** Tells if a text can be sent as a token. */
export const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

function tokenOf(text: string | undefined): string | null {
  const token = text?.trim() || null;
  if (token === null || isToken(token)) return token;
  throw new Error(
    'SWITCHYARD_TOKEN isn’t a token: it has a space, a line break or another character that no token has.',
  );
}

/** Reads the environment; an empty variable counts as not set. Throws an error for a token that cannot be one. */
export function readClientEnvironment(): ClientEnvironment {
  const { SWITCHYARD_URL, SWITCHYARD_TOKEN, XDG_CONFIG_HOME, APPDATA, SSH_CONNECTION, SSH_TTY } = process.env;
  return {
    address: SWITCHYARD_URL || null,
    token: tokenOf(SWITCHYARD_TOKEN),
    configDirectory: XDG_CONFIG_HOME || (process.platform === 'win32' && APPDATA) || join(homedir(), '.config'),
    isRemote: Boolean(SSH_CONNECTION || SSH_TTY),
  };
}
