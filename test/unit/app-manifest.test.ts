import { expect, it } from 'vitest';
import { createAppManifest } from '../../src/domain/github-apps/app-manifest.ts';

const manifestAt = (baseUrl: string, host = 'github.com') =>
  createAppManifest({ baseUrl, host, connectionId: 'a'.repeat(32), organization: null });

it.each([
  ['http://localhost:8080', 'github.com', false],
  ['http://localhost:8080', 'ghe.example.com', false],
  ['http://app.localhost', 'github.com', false],
  ['http://127.0.0.1:8080', 'ghe.example.com', false],
  ['http://[::1]:8080', 'ghe.example.com', false],
  ['http://0.0.0.0:8080', 'ghe.example.com', false],
  ['http://10.0.0.7', 'github.com', false],
  ['http://10.0.0.7', 'ghe.example.com', true],
  ['https://203.0.114.7', 'github.com', true],
  ['https://switchyard.example.com', 'github.com', true],
])('at %s, the App of %s has a webhook: %s', (baseUrl, host, isThere) => {
  const manifest = manifestAt(baseUrl, host);
  expect('hook_attributes' in manifest).toBe(isThere);
  expect('default_events' in manifest).toBe(isThere);
  expect(manifest.redirect_url).toBe(`${baseUrl}/manage/git/github-app`);
});

it('keeps the limit of names', () => {
  const options = { baseUrl: 'https://switchyard.example.com', host: 'github.com', connectionId: 'a' };
  const { name } = createAppManifest({ ...options, organization: 'a'.repeat(39) });
  expect(name).toHaveLength(34);
});
