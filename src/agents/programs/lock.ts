/** A package of a {@link Lock}. */
export interface LockedPackage {
  /** The real name of a package that is installed under another one. */
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** A package-lock.json without addresses: npm takes the packages from the registry that it is set up with. */
export interface Lock {
  readonly name: string;
  readonly lockfileVersion: 3;
  /** By path; the project itself is at the empty path. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}
