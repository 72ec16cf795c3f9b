import type { ContainedPackage } from './contained-packages.ts';

/** Returns a page with the licence of each package. */
export function describeLicenses(packages: readonly ContainedPackage[]): string {
  const sections = packages.map(
    ({ name, version, license, text }) => `## ${name} ${version}\n\nLicence: ${license}\n${quote(text)}`,
  );
  return `# Licences of third parties\n\nSwitchyard contains code of these packages.\n\n${sections.join('\n')}`;
}

const quote = (text: string) =>
  text.trim() === ''
    ? ''
    : `\n${text.trim().replaceAll('\r\n', '\n').replaceAll(/^/gm, '    ').replaceAll(/ +$/gm, '')}\n`;
