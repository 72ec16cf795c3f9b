import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { expect, it } from 'vitest';
import { makeBillOfMaterials } from '../../scripts/package/bill-of-materials.ts';

const own = { name: 'switchyard', version: '1.2.3', license: 'Apache-2.0' };
const parts = [
  { name: '@scope/part', version: '4.0.0', license: '(MIT OR Apache-2.0)' },
  { name: 'plain', version: '5.0.0', license: 'not stated' },
  { name: 'plain', version: '6.0.0', license: 'MIT' },
];
const integrity = `sha512-${Buffer.alloc(64, 1).toString('base64')}`;
const lock = {
  packages: {
    'node_modules/@scope/part': { version: '4.0.0', integrity },
    'node_modules/plain': { version: '6.0.0' },
    'node_modules/other/node_modules/plain': { version: '5.0.0', integrity },
  },
};

it('is valid CycloneDX, and lists each version of a package with its address, licence and digest', async () => {
  const text = makeBillOfMaterials(own, parts, lock);
  const { v1dot6 } = Spec.Version;
  expect(await new Validation.JsonStrictValidator(v1dot6).validate(text)).toBeNull();
  const { metadata, components, dependencies } = JSON.parse(text);
  const digest = [{ alg: 'SHA-512', content: '01'.repeat(64) }];
  expect(components).toEqual([
    expect.objectContaining({ purl: 'pkg:npm/%40scope/part@4.0.0', group: '@scope', name: 'part', hashes: digest }),
    expect.objectContaining({ purl: 'pkg:npm/plain@5.0.0', hashes: digest }),
    expect.objectContaining({ purl: 'pkg:npm/plain@6.0.0', licenses: [{ expression: 'MIT' }] }),
  ]);
  expect(components[0].licenses).toEqual([{ expression: '(MIT OR Apache-2.0)' }]);
  expect(components[1].licenses).toBeUndefined();
  // The package of this name in npm's registry is another one.
  expect(metadata.component).toMatchObject({ name: 'switchyard', version: '1.2.3' });
  expect(metadata.component.purl).toBeUndefined();
  const ofService = dependencies.find(({ ref }: { ref: string }) => ref === metadata.component['bom-ref']);
  expect(ofService.dependsOn).toEqual(components.map((each: { 'bom-ref': string }) => each['bom-ref']));
  expect(makeBillOfMaterials(own, [...parts].reverse(), lock)).toBe(text);
});
