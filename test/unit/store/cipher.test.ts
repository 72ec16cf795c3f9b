import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createKeyring, loadSecretKey } from '../../../src/store/cipher.ts';

const oldKey = 'old secret key, 32 characters or more';
const newKey = 'new secret key, 32 characters or more';
const keyring = createKeyring({ secretKey: newKey, previousSecretKey: null });
const rotating = createKeyring({ secretKey: newKey, previousSecretKey: oldKey });
const before = createKeyring({ secretKey: oldKey, previousSecretKey: null });

/** The message of the error that the function throws, with that of its cause. */
function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    const { message, cause } = error as Error;
    return `${message} ${String(cause)} ${JSON.stringify(cause)}`;
  }
  throw new Error('Nothing was thrown.');
}

describe('an encrypted value', () => {
  it('can be decrypted in its location, for any text', () => {
    for (const text of ['', 'hunter2', 'ключ 🔑', 'x'.repeat(100_000)]) {
      expect(keyring.open(keyring.seal(text, 'session:KEY'), 'session:KEY')).toBe(text);
    }
  });

  it('is different each time, and names its key', () => {
    const sealed = keyring.seal('hunter2', 'a');
    expect(keyring.seal('hunter2', 'a')).not.toBe(sealed);
    expect(sealed.split('.').slice(0, 2)).toEqual(['v1', keyring.fingerprint]);
  });

  it('cannot be decrypted elsewhere, modified, truncated or with another key, and the error reveals nothing', () => {
    const sealed = keyring.seal('hunter2', 'session:KEY');
    const [version, id, body = ''] = sealed.split('.');
    const bytes = Buffer.from(body, 'base64url');
    const changed = Array.from(bytes, (_, n) => {
      const copy = Buffer.from(bytes);
      copy[n] = (copy[n] ?? 0) ^ 1;
      return `${version}.${id}.${copy.toString('base64url')}`;
    });
    const cut = Array.from(bytes, (_, n) => `${version}.${id}.${bytes.subarray(0, n).toString('base64url')}`);
    const wrong = ['', 'v1', `v2.${id}.${body}`, `v1.0000000000000000.${body}`, ...changed, ...cut];
    const messages = wrong.map((each) => messageOf(() => keyring.open(each, 'session:KEY')));
    messages.push(messageOf(() => keyring.open(sealed, 'session:OTHER')));
    messages.push(messageOf(() => before.open(sealed, 'session:KEY')));
    for (const message of messages) {
      expect(message).toMatch(/^A stored secret .*\./);
      expect(message).not.toContain('hunter2');
      expect(message).not.toContain('secret key,');
    }
  });

  it('of the previous key can be decrypted during a rotation', () => {
    expect(rotating.open(before.seal('hunter2', 'a'), 'a')).toBe('hunter2');
    expect(rotating.seal('hunter2', 'a')).toContain(keyring.fingerprint);
  });
});

it('finds a token with the current pepper first, then with the previous one', () => {
  const token = 'cog_0123456789';
  expect(rotating.tokenHashes(token)).toEqual([keyring.hashToken(token), before.hashToken(token)]);
  expect(keyring.tokenHashes(token)).toEqual([keyring.hashToken(token)]);
  expect(keyring.hashToken(token)).toMatch(/^[0-9a-f]{64}$/);
  expect(keyring.hashToken(token)).not.toBe(before.hashToken(token));
});

it('verifies its own signatures and those of the previous key, and no others', () => {
  expect(rotating.verify('a=1', rotating.sign('a=1'))).toBe(true);
  expect(rotating.verify('a=1', before.sign('a=1'))).toBe(true);
  expect(keyring.verify('a=1', before.sign('a=1'))).toBe(false);
  expect(keyring.verify('a=2', keyring.sign('a=1'))).toBe(false);
  for (const wrong of ['', 'x', '*', keyring.sign('a=1').slice(0, -2)])
    expect(keyring.verify('a=1', wrong)).toBe(false);
});

it('distinguishes keys by a fingerprint that reveals nothing about them', () => {
  expect(rotating.fingerprint).toBe(keyring.fingerprint);
  expect(rotating.previousFingerprint).toBe(before.fingerprint);
  expect(keyring.previousFingerprint).toBeNull();
  expect(keyring.fingerprint).not.toBe(before.fingerprint);
});

describe('the secret key', () => {
  const inFolder = async (work: (dataDir: string) => Promise<void>) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-key-'));
    await work(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  };

  it('is created once, for this user only, and found again', () =>
    inFolder(async (dataDir) => {
      const made = await loadSecretKey({ dataDir, fromEnv: null });
      expect(made.secretKey).toHaveLength(43);
      expect((await stat(join(dataDir, 'secret.key'))).mode & 0o777).toBe(0o600);
      expect(await loadSecretKey({ dataDir, fromEnv: null })).toEqual(made);
      expect(await readdir(dataDir)).toEqual(['secret.key']);
    }));

  it('is created although an earlier start was killed meanwhile', () =>
    inFolder(async (dataDir) => {
      await writeFile(join(dataDir, 'secret.key.new'), 'half', { mode: 0o644 });
      const { secretKey } = await loadSecretKey({ dataDir, fromEnv: null });
      expect(await readFile(join(dataDir, 'secret.key'), 'utf8')).toBe(`${secretKey}\n`);
      expect((await stat(join(dataDir, 'secret.key'))).mode & 0o777).toBe(0o600);
    }));

  it('is the configured one if set, and then nothing is written', () =>
    inFolder(async (dataDir) => {
      expect(await loadSecretKey({ dataDir, fromEnv: oldKey })).toEqual({ secretKey: oldKey, isGenerated: false });
      expect(await readdir(dataDir)).toEqual([]);
    }));

  it('is refused when incomplete, without repeating it', () =>
    inFolder(async (dataDir) => {
      await writeFile(join(dataDir, 'secret.key'), 'too-short');
      const refused = loadSecretKey({ dataDir, fromEnv: null });
      await expect(refused).rejects.toThrow(/is not whole/);
      await expect(refused).rejects.not.toThrow(/too-short/);
    }));
});
