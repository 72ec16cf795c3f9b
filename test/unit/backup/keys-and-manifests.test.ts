import { describe, expect, it } from 'vitest';
import { isFileKey, parseFileEntry } from '../../../src/backup/file-entries.ts';
import { cleanPassphrase, fingerprintOf, readKeyFile, writeKeyFile } from '../../../src/backup/key-file.ts';
import { makeManifest, parseManifest } from '../../../src/backup/manifest.ts';
import { openLocation } from '../../../src/backup/open-location.ts';
import { parseLine } from '../../../src/backup/row-lines.ts';

const secretKey = 'a secret key of more than 32 characters';
const passphrase = 'correct horse battery';

describe('the key in a backup', () => {
  it('is open, or sealed with a passphrase and bound to its fingerprint', async () => {
    const fingerprint = fingerprintOf(secretKey);
    expect(await readKeyFile(await writeKeyFile(secretKey, null), fingerprint, null)).toBe(secretKey);
    const sealed = await writeKeyFile(secretKey, passphrase);
    expect(sealed).not.toContain(secretKey);
    expect(await readKeyFile(sealed, fingerprint, passphrase)).toBe(secretKey);
    await expect(readKeyFile(sealed, fingerprint, null)).rejects.toThrow('--key-passphrase-file');
    await expect(readKeyFile(sealed, fingerprint, 'another passphrase')).rejects.toThrow('is not the one');
    await expect(readKeyFile(sealed, 'f'.repeat(16), passphrase)).rejects.toThrow('is not the one');
  });

  it('is refused if it would cost more than it should, or is damaged', async () => {
    const sealed = JSON.parse(await writeKeyFile(secretKey, passphrase)) as Record<string, unknown>;
    for (const change of [{ n: 2 ** 30 }, { kdf: 'none' }, { salt: '' }, { sealed: 'x'.repeat(2_000) }, { more: 1 }]) {
      const text = JSON.stringify({ ...sealed, ...change });
      await expect(readKeyFile(text, fingerprintOf(secretKey), passphrase)).rejects.toThrow('is damaged');
    }
    for (const text of ['', 'null', '{"secretKey":7}', '{"secretKey":"short"}'])
      await expect(readKeyFile(text, fingerprintOf(secretKey), null)).rejects.toThrow('is damaged');
  });

  it('has a passphrase of twelve characters or more, without the end of the line', () => {
    expect(cleanPassphrase('correct horse \r\n')).toBe('correct horse ');
    expect(() => cleanPassphrase('elevenchars\n')).toThrow('at least 12 characters');
  });
});

describe('a manifest', () => {
  const stored = { bytes: 1, sha256: 'a'.repeat(64) };
  const table = { name: 'session', columns: ['id', 'title'], rows: 1, content: stored, file: stored };
  const manifest = makeManifest({
    version: '1.0.0',
    createdAt: '2026-01-01T00:00:00.000Z',
    migrations: [],
    keyFingerprint: 'a'.repeat(16),
    nextTransaction: '7',
    tables: [table],
    files: { count: 0, bytes: 0, missing: 0, content: stored, file: stored },
    key: null,
  });
  const parse = (change: object) => parseManifest(JSON.stringify({ ...manifest, ...change }));

  it('is read as it was written', () => {
    expect(parse({})).toEqual(manifest);
  });

  it('is refused with the location of its mistake', () => {
    expect(() => parseManifest('{')).toThrow('manifest.json of the backup is damaged.');
    expect(() => parse({ tables: [{ ...table, name: '../x' }] })).toThrow('at "tables.0.name"');
    expect(() => parse({ tables: [{ ...table, columns: ['"x"'] }] })).toThrow('at "tables.0.columns.0"');
    expect(() => parse({ tables: [{ ...table, rows: -1 }] })).toThrow('at "tables.0.rows"');
    expect(() => parse({ nextTransaction: '1; drop' })).toThrow('at "nextTransaction"');
    expect(() => parse({ tables: [table, table] })).toThrow('lists a table twice');
    expect(() => parse({ format: 2 })).toThrow('The backup has the format 2, and this version reads the format 1.');
  });
});

it('accepts only the names that the service gives to its files', () => {
  const id = '0123456789abcdef'.repeat(2);
  for (const key of [`ef/${id}`, `checkpoints/01/${id}`]) expect(isFileKey(key)).toBe(true);
  for (const key of [
    '',
    id,
    `../${id}`,
    `ef/${id}/x`,
    `/ef/${id}`,
    `ef/../ef/${id}`,
    `EF/${id}`,
    `ef\\${id}`,
    `ef/${id}\n`,
  ])
    expect(isFileKey(key)).toBe(false);
  expect(() => parseFileEntry('{"key":"x"}', 4)).toThrow('Line 4 of files.jsonl.gz is not the entry of a file.');
});

it('accepts only rows with a text or null for each column', () => {
  const table = { name: 'session', columns: ['id', 'title'] };
  expect(() => parseLine('["1",null]', table, 1)).not.toThrow();
  for (const line of ['["1"]', '["1","2","3"]', '["1",2]', '["1",["2"]]', '{"0":"1","1":"2"}', '"12"', ''])
    expect(() => parseLine(line, table, 3)).toThrow('Line 3 of tables/session.jsonl.gz is not a row of the table.');
});

it('opens directories and prefixes of buckets, and nothing else', async () => {
  const s3 = { bucket: 'files', region: 'eu-central-1', endpoint: null, credentials: null };
  expect((await openLocation('/backups/one', null)).label).toBe('/backups/one');
  expect((await openLocation('s3://backups/nightly/1', s3)).label).toBe('s3://backups/nightly/1');
  await expect(openLocation('s3://backups/nightly', null)).rejects.toThrow('S3_BUCKET');
  for (const target of [
    's3://backups',
    's3://backups/',
    's3://b/../c',
    's3://UPPER/x',
    's3://backups/a//b',
    's3://backups/a/../b',
  ])
    await expect(openLocation(target, s3)).rejects.toThrow('the form s3://bucket/prefix');
  await expect(openLocation('https://host/x', s3)).rejects.toThrow('the form s3://bucket/prefix');
});
