import { parseArgs } from 'node:util';

/** The options of the command line. */
export interface Options {
  /** Prefixes of rows; empty: all. */
  readonly only: readonly string[];
  readonly isQuick: boolean;
  readonly isProfiled: boolean;
  /** The file for the JSON; null: none. */
  readonly json: string | null;
  /**
   * The built server to measure; null: the build of this repository, which is updated first if it is older than the
   * sources.
   */
  readonly dist: string | null;
  /** True if PostGraphile may be downloaded from the registry. */
  readonly hasPeer: boolean;
}

/** The text for `--help`. */
export const usage = `npm run bench -- [options]

Measures the server against baselines on this machine, in one run, and prints a table.

  --only NAME   only rows whose name begins so (graphql-page, fan-out/one-session, …); may be repeated
  --quick       shorter rounds and smaller tables: under three minutes in all
  --json FILE   also write the rows: [{name, value, bar, hope, unit, …}]
  --profile     with graphql-page, append and fan-out: the ten functions that take the most CPU by themselves
  --dist DIR    measure another build, as one of an earlier commit
  --no-peer     leave PostGraphile out; otherwise it is installed into the temporary folder at its first use
  --help        this text

PostgreSQL: a private cluster from this machine's binaries, or DATABASE_URL (its user must be able to create databases).
Progress goes to stderr. The exit code is 0 also where a bar is missed: the table says so.`;

/** Parses the options; null: help was requested. Throws on unknown options. */
export function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'only': { type: 'string', multiple: true },
      'quick': { type: 'boolean', default: false },
      'profile': { type: 'boolean', default: false },
      'json': { type: 'string' },
      'dist': { type: 'string' },
      'no-peer': { type: 'boolean', default: false },
      'help': { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  return {
    only: values.only ?? [],
    isQuick: values.quick,
    isProfiled: values.profile,
    json: values.json ?? null,
    dist: values.dist ?? null,
    hasPeer: !values['no-peer'],
  };
}

/** Returns true if a row was selected. */
export function isSelected({ only }: Pick<Options, 'only'>, name: string): boolean {
  return only.length === 0 || only.some((prefix) => name.startsWith(prefix));
}
