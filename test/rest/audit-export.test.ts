import { generateKeyPairSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { openSigningKey } from '../../src/domain/audit/export/signing-key.ts';
import { verifyExport } from '../../src/domain/audit/export/verify-export.ts';
import { newId } from '../../src/domain/ids.ts';
import { resealSecrets } from '../../src/domain/library/secrets/reseal-secrets.ts';
import { createKeyring } from '../../src/store/cipher.ts';
import { seedAuditEntries } from '../support/audit.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeManager, makeOrganization, makeServiceUser, makeUser } from './rest-app.ts';

const app = useApp();

const list = '/v3/enterprise/audit-logs';
const path = `${list}/export`;
/** A range that has every entry. Without an end, an export waits for transactions that other databases of the server have open. */
const all = 'time_before=99999999999';
const ofOrganization = (id: string) => `/v3/enterprise/organizations/${id}/audit-logs/export`;

/** POST for an export, as text; GET for other paths. */
async function download(at: string, token = app.adminToken, headers: Record<string, string> = {}) {
  const method = at.includes('/export') ? 'POST' : 'GET';
  const response = await fetch(app.url + at, { method, headers: { authorization: `Bearer ${token}`, ...headers } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function readPublicKey(): Promise<string> {
  return (await call(app, app.adminToken, 'GET', `${list}/public-key`)).body.public_key;
}

/** A content in chunks that do not end at line breaks. */
async function* inChunks(text: string | Uint8Array, size = 1_000) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const verify = (text: string | Uint8Array, key: string) => verifyExport(inChunks(text), key);
const linesOf = (text: string) => text.trimEnd().split('\n');
const parse = (text: string) => linesOf(text).map((line) => JSON.parse(line));

/** An organization of another enterprise, with an entry. */
async function seedForeign(): Promise<string> {
  const [enterpriseId, organizationId, now] = [newId(), newId(), new Date()];
  await app.app.services.store.transact(async (tx) => {
    await tx.prisma.enterprise.create({ data: { id: enterpriseId, name: 'Foreign', createdAt: now } });
    const data = { id: organizationId, enterpriseId, name: 'Foreign', createdAt: now, updatedAt: now };
    await tx.prisma.organization.create({ data });
  });
  await seedAuditEntries(app, [{ action: 'create_org', organizationId, enterpriseId }]);
  return organizationId;
}

describe(`POST ${path}`, () => {
  test('200: a header, every entry as in the list, oldest first, and a signature', async () => {
    const foreign = await seedForeign();
    const organization = await makeOrganization(app);
    const { v3Token } = await makeUser(app, organization);
    await call(app, v3Token, 'POST', `/v3/organizations/${organization}/sessions`, { prompt: 'say hello' });
    const { status, headers, text } = await download(`${path}?${all}`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/x-ndjson');
    expect(headers.get('cache-control')).toBe('private, no-store');
    const [header, ...entries] = parse(text);
    const signature = entries.pop();
    expect(header).toEqual({
      type: 'audit_log_export',
      version: 1,
      enterprise_id: `enterprise-${app.app.installation.enterpriseId}`,
      org_id: null,
      after: null,
      end_cursor: null,
      time_after: null,
      time_before: 99_999_999_999,
      created_at: expect.any(Number),
      key_id: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(signature).toMatchObject({ type: 'signature', lines: entries.length + 1 });
    const listed = (await call(app, app.adminToken, 'GET', `${list}?first=200`)).body.items.toReversed();
    // The entry of the export itself may be in the same millisecond.
    expect(listed.at(-1)).toMatchObject({ action: 'create_audit_log_export', org_id: null });
    expect(entries.slice(0, listed.length - 1)).toEqual(listed.slice(0, -1));
    expect(text).not.toContain(foreign);
    const { entryCount } = await verify(text, await readPublicKey());
    expect(entryCount).toBe(entries.length);
  });

  test('200: the export of an organization has its entries alone, of all pages', async () => {
    const [one, other] = [await makeOrganization(app), await makeOrganization(app)];
    const createdAt = new Date(Date.now() - 60_000);
    const seeded = await seedAuditEntries(
      app,
      Array.from({ length: 1_203 }, () => ({ action: 'send_message', organizationId: one, createdAt })),
    );
    await seedAuditEntries(app, [{ action: 'send_message', organizationId: other, createdAt }]);
    const { text } = await download(`${ofOrganization(one)}?time_before=${Math.ceil(Date.now() / 1_000) - 30}`);
    const [header, ...entries] = parse(text);
    expect(header).toMatchObject({ org_id: `org-${one}` });
    expect(entries.slice(0, -1).map(({ audit_log_id }) => audit_log_id)).toEqual(
      seeded.toSorted().map((id) => `audit_log-${id}`),
    );
    await verify(text, await readPublicKey());
  });

  test('200: time_after is included and time_before is not; the widest range is accepted', async () => {
    const organization = await makeOrganization(app);
    const at = (seconds: number) => new Date(1_600_000_000_000 + seconds * 1_000);
    const ids = await seedAuditEntries(
      app,
      [0, 10, 20].map((seconds) => ({ action: 'send_message', organizationId: organization, createdAt: at(seconds) })),
    );
    const read = async (range: string) =>
      parse((await download(`${ofOrganization(organization)}?${range}`)).text)
        .filter(({ action }) => action === 'send_message')
        .map(({ audit_log_id }) => audit_log_id.replace('audit_log-', ''));
    expect(await read('time_after=1600000000&time_before=1600000020')).toEqual(ids.slice(0, 2));
    expect(await read('time_after=1600000011&time_before=1600000010')).toEqual([]);
    expect(await read('time_after=0&time_before=99999999999')).toEqual(ids);
  });

  test('422 for a position together with a time, and for a position of another log', async () => {
    const readEnd = async () => parse((await download(path)).text)[0].end_cursor;
    const end = encodeURIComponent(await vi.waitUntil(readEnd, { timeout: 60_000 }));
    expect((await download(`${path}?after=${end}`)).status).toBe(200);
    for (const time of ['time_after=0', 'time_before=1700000000']) {
      const refused = await download(`${path}?after=${end}&${time}`);
      expect([refused.status, refused.text]).toEqual([
        422,
        expect.stringContaining('continues an export without times'),
      ]);
    }
    const foreign = await seedForeign();
    const [entry] = await app.app.services.store.query<{ id: string; xid: string }>(
      'select id, xid::text as xid from audit_entry where organization_id = $1',
      [foreign],
    );
    const ofForeign = Buffer.from(`audit.asc|${entry?.xid}|${entry?.id}`).toString('base64url');
    const unknown = Buffer.from(`audit.asc|1|${newId()}`).toString('base64url');
    for (const cursor of ['x', 'x'.repeat(600), '%00', ofForeign, unknown]) {
      expect((await download(`${path}?after=${cursor}`)).status).toBe(422);
    }
  });

  test('200 with gzip for clients that accept it', async () => {
    const organization = await makeOrganization(app);
    await seedAuditEntries(app, Array(50).fill({ action: 'send_message', organizationId: organization }));
    const { headers, text } = await download(`${ofOrganization(organization)}?${all}`, app.adminToken, {
      'accept-encoding': 'gzip',
    });
    expect(headers.get('content-encoding')).toBe('gzip');
    expect((await verify(text, await readPublicKey())).entryCount).toBeGreaterThanOrEqual(50);
  });

  test('405 for GET, because the log records each export', async () => {
    const response = await fetch(app.url + path, { headers: { authorization: `Bearer ${app.adminToken}` } });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });

  test('the stream is closed when its key is revoked', async () => {
    const { token, serviceUserId } = await makeServiceUser(app, { roleId: 'account_admin' });
    const organization = await makeOrganization(app);
    const { store } = app.app.services;
    await store.execute(
      `insert into audit_entry (id, enterprise_id, organization_id, action, address, created_at)
       select lpad(n::text, 32, '0'), $1, $2, 'send_message', repeat('x', 2000), now() - interval '1 day' from generate_series(1, 20000) n`,
      [app.app.installation.enterpriseId, organization],
    );
    const response = await fetch(`${app.url}${ofOrganization(organization)}?${all}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity' },
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    expect(app.app.services.openStreams.count().stream).toBe(1);
    await store.execute('update api_key set revoked_at = now() where service_user_id = $1', [serviceUserId]);
    app.app.services.notifier.notify('keys');
    const rest = async () => {
      while (!(await reader.read()).done);
    };
    await expect(rest()).rejects.toThrow();
    await expect.poll(() => app.app.services.openStreams.count().stream).toBe(0);
    await store.execute('delete from audit_entry where organization_id = $1', [organization]);
  });

  test('403 without the permission, 404 for an organization of another enterprise, 422 for times out of range', async () => {
    const foreign = await seedForeign();
    const organization = await makeOrganization(app);
    const { v3Token } = await makeUser(app, organization, 'org_admin');
    const manager = await makeManager(app, 'ManageOrganizations');
    for (const token of [v3Token, manager]) {
      for (const at of [path, ofOrganization(organization), ofOrganization(foreign), `${list}/public-key`]) {
        expect((await download(at, token)).status).toBe(403);
      }
    }
    expect((await download(ofOrganization(foreign))).status).toBe(404);
    expect((await download(ofOrganization('nothing'))).status).toBe(404);
    for (const range of ['time_after=-1', 'time_before=253402300800', 'time_after=x', 'time_before=1e400']) {
      expect((await download(`${path}?${range}`)).status).toBe(422);
    }
  });
});

describe('a changed export', () => {
  const changedMessage = 'The signature does not match.';

  async function makeExport() {
    const organization = await makeOrganization(app);
    await seedAuditEntries(app, Array(5).fill({ action: 'send_message', organizationId: organization }));
    const [{ text }, key] = [await download(`${ofOrganization(organization)}?${all}`), await readPublicKey()];
    return { text, key };
  }

  test('is found wherever a byte was changed', async () => {
    const { text, key } = await makeExport();
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 7) {
      const changed = Buffer.from(bytes);
      changed[at] = (bytes[at] as number) ^ 1;
      await expect(verify(changed, key), `Byte ${at}`).rejects.toThrow(/^The /);
    }
    const last = Buffer.from(bytes);
    last[bytes.length - 1] = 0x20;
    await expect(verify(last, key)).rejects.toThrow('it ends within a line');
  });

  test('is found when a line is missing, repeated, added or in another place', async () => {
    const { text, key } = await makeExport();
    const lines = linesOf(text);
    const [header = '', one = '', two = '', ...others] = lines;
    const signature = others.at(-1) as string;
    const file = (...all: string[]) => `${all.join('\n')}\n`;
    await verify(file(...lines), key);
    await expect(verify(file(header, two, ...others), key)).rejects.toThrow(changedMessage);
    await expect(verify(file(header, two, one, ...others), key)).rejects.toThrow(changedMessage);
    await expect(verify(file(header, one, one, two, ...others), key)).rejects.toThrow(changedMessage);
    await expect(verify(file(...lines, signature), key)).rejects.toThrow(changedMessage);
    await expect(verify(file(...lines, one), key)).rejects.toThrow('its last line is not a signature');
    await expect(verify(file(...lines, ''), key)).rejects.toThrow('its last line is not a signature');
    await expect(verify(file(one, two, ...others), key)).rejects.toThrow('The first line');
    await expect(verify(file(signature), key)).rejects.toThrow('The first line');
    // Two lines that are joined have the same bytes without their line break.
    await expect(verify(file(header, `${one}${two}`, ...others), key)).rejects.toThrow(changedMessage);
  });

  test('is found when its end is missing, at any length', async () => {
    const { text, key } = await makeExport();
    for (let end = 0; end < text.length; end += 11) {
      await expect(verify(text.slice(0, end), key), `${end} bytes`).rejects.toThrow(/^The file/);
    }
    await expect(verify(text.slice(0, -1), key)).rejects.toThrow('it ends within a line');
  });

  test('is found when it is signed with another key', async () => {
    const { text, key } = await makeExport();
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const pem = (own: typeof publicKey) => own.export({ type: 'spki', format: 'pem' }) as string;
    await expect(verify(text, pem(publicKey))).rejects.toThrow('names another key');
    await expect(verify(text, privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)).rejects.toThrow('PEM');
    await expect(verify(text, 'no key')).rejects.toThrow('The key is not an Ed25519 public key in PEM.');
    await expect(verify(gzipSync(text), key)).rejects.toThrow('The first line');
  });
});

test('one key signs the exports of an enterprise, and survives a new SECRET_KEY', async () => {
  const { services } = app.app;
  const enterpriseId = newId();
  const keys = await Promise.all(Array.from({ length: 4 }, () => openSigningKey(services, enterpriseId)));
  expect(new Set(keys.map(({ id }) => id)).size).toBe(1);
  expect(keys[0]?.id).not.toBe((await openSigningKey(services, app.app.installation.enterpriseId)).id);
  const secretKey = 'another secret key that is only for the tests';
  const previousSecretKey = 'a secret key that is only for the tests';
  const rotating = { ...services, keyring: createKeyring({ secretKey, previousSecretKey }) };
  await resealSecrets(rotating, () => false);
  const rotated = { ...services, keyring: createKeyring({ secretKey, previousSecretKey: null }) };
  expect((await openSigningKey(rotated, enterpriseId)).publicKey).toBe(keys[0]?.publicKey);
  await expect(openSigningKey(services, enterpriseId)).rejects.toThrow('SECRET_KEY');
  const back = createKeyring({ secretKey: previousSecretKey, previousSecretKey: secretKey });
  await resealSecrets({ ...services, keyring: back }, () => false);
});
