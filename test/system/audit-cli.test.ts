import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLineChain, signLines } from '../../src/domain/audit/export/signed-lines.ts';
import { keyIdOf } from '../../src/domain/audit/export/signing-key.ts';
import { ensureBuilt } from '../support/built.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const dir = mkdtempSync(join(tmpdir(), 'switchyard-audit-'));

beforeAll(async () => {
  await ensureBuilt();
  writeFileSync(join(dir, 'key.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** An export of one organization with some entries, as the service writes it. */
function makeExport(entries: number): string {
  const chain = createLineChain();
  const header = {
    type: 'audit_log_export',
    version: 1,
    org_id: 'org-1',
    time_after: null,
    time_before: 1_800_000_000,
  };
  const lines = [
    { ...header, created_at: 1_800_000_000, key_id: keyIdOf(publicKey) },
    ...Array(entries).fill({ a: 1 }),
  ];
  const texts = lines.map((line) => JSON.stringify(line));
  for (const text of texts) chain.add(text);
  return `${[...texts, signLines(chain, privateKey)].join('\n')}\n`;
}

/** Runs `switchyard audit verify` like an auditor, in an environment without any variable of the service. */
function verify(name: string, content: string | Uint8Array): Promise<{ code: number; stdout: string; stderr: string }> {
  writeFileSync(join(dir, name), content);
  const args = ['dist/cli/switchyard.js', 'audit', 'verify', join(dir, name), '--key', join(dir, 'key.pem')];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: { PATH: process.env.PATH ?? '' } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

test('verify accepts a complete export, plain or compressed, and refuses changed ones', async () => {
  const text = makeExport(2);
  const [plain, packed, changed, cut] = await Promise.all([
    verify('plain.jsonl', text),
    verify('packed.jsonl.gz', gzipSync(text)),
    verify('changed.jsonl', text.replace('{"a":1}', '{"a":2}')),
    verify('cut.jsonl.gz', gzipSync(text).subarray(0, -20)),
  ]);
  const complete = `The export is complete and unchanged: 2 entries.\n${text.split('\n')[0]}\n`;
  expect(plain).toEqual({ code: 0, stdout: complete, stderr: '' });
  expect(packed).toEqual(plain);
  expect(changed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('INVALID: The signature') });
  expect(cut).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('unexpected end of file') });
});
