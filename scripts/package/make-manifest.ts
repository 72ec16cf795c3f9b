/** The parts of the repository's package.json that the package uses. */
interface RootManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Returns the package.json of the npm package, whose files import `imports`. */
export function makeManifest(root: RootManifest, imports: readonly string[]) {
  const { name, version, description, license, bin, engines } = root;
  const dependencies = Object.fromEntries(imports.map((each) => [each, versionOf(root, each)]));
  // The name belongs to another package in npm's registry: npm refuses to publish a private one.
  return { name, version, description, license, private: true, type: 'module', bin, engines, dependencies };
}

function versionOf({ dependencies }: RootManifest, name: string): string {
  const version = dependencies[name];
  if (version !== undefined) return version;
  throw new Error(
    `The built service imports "${name}", which is no dependency in package.json. Add it there, or to "absent" in rolldown.config.mjs if the service works without it.`,
  );
}
