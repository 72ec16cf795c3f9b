import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import type { ContainedPackage } from './contained-packages.ts';

/** The parts of a package-lock.json that are used here. */
export interface PackageLock {
  readonly packages: Readonly<
    Record<string, { readonly name?: string; readonly version?: string; readonly integrity?: string }>
  >;
}

type NamedPackage = Pick<ContainedPackage, 'name' | 'version' | 'license'>;

/**
 * Returns the software bill of materials of the npm package (CycloneDX 1.6, JSON): the packages whose code it contains, and those
 * that it depends on. The same packages give the same text: it has no time and no serial number.
 */
export function makeBillOfMaterials(own: NamedPackage, parts: readonly NamedPackage[], lock: PackageLock): string {
  const bom = new Models.Bom();
  const service = componentOf(Enums.ComponentType.Application, own);
  bom.metadata.component = service;
  for (const part of parts) {
    const component = componentOf(Enums.ComponentType.Library, part);
    for (const [algorithm, hash] of hashesOf(part, lock)) component.hashes.set(algorithm, hash);
    bom.components.add(component);
    service.dependencies.add(component.bomRef);
  }
  const { Spec1dot6 } = Spec;
  const factory = new Serialize.JSON.Normalize.Factory(Spec1dot6);
  return `${new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function componentOf(type: Enums.ComponentType, { name, version, license }: NamedPackage): Models.Component {
  const [, group, ownName = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [];
  const purl = `pkg:npm/${group ? `${encodeURIComponent(group)}/` : ''}${ownName}@${version}`;
  const licenses = license === 'not stated' ? [] : [new Models.LicenseExpression(license)];
  return new Models.Component(type, ownName, {
    ...(group && { group }),
    version,
    bomRef: purl,
    // Our own name belongs to another package in npm's registry.
    ...(type === Enums.ComponentType.Library && { purl }),
    licenses: new Models.LicenseRepository(licenses),
  });
}

// The digests of the package's tarball in the registry.
function hashesOf({ name, version }: NamedPackage, { packages }: PackageLock): [Enums.HashAlgorithm, string][] {
  const found = Object.entries(packages).find(
    ([path, entry]) => (entry.name ?? path.replace(/^.*node_modules\//, '')) === name && entry.version === version,
  );
  const sha512 = /sha512-(\S+)/.exec(found?.[1].integrity ?? '')?.[1];
  return sha512 === undefined ? [] : [[Enums.HashAlgorithm['SHA-512'], Buffer.from(sha512, 'base64').toString('hex')]];
}
