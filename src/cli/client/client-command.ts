import { type ParseArgsConfig, parseArgs } from 'node:util';
import { commandPrefix } from '../../common/command-line.ts';
import { findSignIn, readAddress, type SignedIn } from './credentials.ts';
import { plainLines } from './plain.ts';

/** A wrong use of a command: its usage follows. */
export class UsageError extends Error {}

/** The parsed arguments of a command. */
export type Arguments<T extends NonNullable<ParseArgsConfig['options']>> = ReturnType<
  typeof parseArgs<{ options: T; allowPositionals: true }>
>;

/**
 * Runs a command that talks to a service. Prints its usage for --help, and for a {@link UsageError} with exit code 2. Other errors are
 * printed with exit code 1, without a stack.
 */
export async function runClientCommand<const T extends NonNullable<ParseArgsConfig['options']>>(
  usage: string,
  options: T,
  run: (parsed: Arguments<T>) => Promise<void>,
): Promise<void> {
  try {
    const allOptions = { ...options, help: { type: 'boolean', short: 'h' } } as const;
    const parsed = readArguments(allOptions);
    if ((parsed.values as { readonly help?: boolean }).help) process.stdout.write(`${usage}\n`);
    else await run(parsed as unknown as Arguments<T>);
  } catch (error) {
    const isUsage = error instanceof UsageError;
    // The message may repeat what a service sent.
    const message = plainLines(error instanceof Error ? error.message : String(error));
    process.stderr.write(`${message}\n${isUsage ? `\n${usage}\n` : ''}`);
    process.exitCode = isUsage ? 2 : 1;
  }
}

function readArguments(options: NonNullable<ParseArgsConfig['options']>) {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

/** Returns the address that an argument names; null without one. Throws {@link UsageError} for further arguments. */
export function oneAddress([text, ...more]: readonly string[]): string | null {
  if (more.length > 0) throw new UsageError(`Unexpected argument: ${more[0]}`);
  return text === undefined ? null : readAddress(text);
}

/** Returns the sign-in to use. Throws an error that says how to sign in. */
export async function requireSignIn(address: string | null): Promise<SignedIn> {
  const signedIn = await findSignIn(address);
  if (signedIn !== null) return signedIn;
  throw new Error(
    `You aren’t signed in${address === null ? '' : ` to ${address}`}. Run "${commandPrefix('login')} ${address ?? 'ADDRESS'}".`,
  );
}
