import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

it('has the version of the service in the Helm chart', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const chart = parse(readFileSync('deploy/helm/switchyard/Chart.yaml', 'utf8'));
  expect(chart).toMatchObject({ version, appVersion: version });
});
