import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startApp } from '../support/app.ts';
import { variablesOf } from '../support/backups.ts';
import { s3Credentials, startS3Server } from '../support/s3-server.ts';
import { runCommand } from '../support/server.ts';
import { makeDirectory } from '../support/server-env.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';
import { uploadTo } from '../support/uploads.ts';

describe.skipIf(testDatabase !== 'postgres')('a backup in a bucket', () => {
  it('is written, verified and restored into another bucket, and touches nothing else', async () => {
    const s3 = await startS3Server();
    onTestFinished(() => s3.close());
    const { accessKeyId, secretAccessKey } = s3Credentials;
    const bucket = { bucket: 'files', region: 'eu-central-1', endpoint: s3.endpoint, credentials: s3Credentials };
    const original = await startApp({ s3: bucket });
    onTestFinished(() => original.close());
    await createSession(original);
    await uploadTo(original, original.organizationId, { name: 'a.txt', content: 'content' });
    const stored = [...s3.objects].filter(([path]) => path.startsWith('/files/'));
    expect(stored.length).toBe(1);

    const inBucket = (name: string) => ({
      S3_BUCKET: name,
      S3_ENDPOINT: s3.endpoint,
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secretAccessKey,
    });
    const env = { ...variablesOf(original), ...inBucket('files') };
    const keysOf = (prefix: string) => [...s3.objects.keys()].filter((path) => path.startsWith(prefix));
    // The names of other objects begin alike.
    s3.objects.set('/backups/night-2/manifest.json', Buffer.from('other'));
    const written = await runCommand('backup', env, 's3://backups/night');
    expect([written.code, written.stderr]).toEqual([0, expect.any(String)]);
    expect(keysOf('/backups/night/files/').length).toBe(1);
    const again = await runCommand('backup', env, 's3://backups/night');
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('s3://backups/night is not empty')]);
    const verified = await runCommand('backup', env, 'verify', 's3://backups/night');
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('1 files with 0.0 MiB')]);

    // A backup that fails removes its own objects only.
    s3.objects.delete(stored[0]?.[0] as string);
    const failed = await runCommand('backup', env, 's3://backups/late');
    expect([failed.code, failed.stderr]).toEqual([
      1,
      expect.stringContaining('1 files that the database names are missing'),
    ]);
    expect(keysOf('/backups/late')).toEqual([]);
    expect(keysOf('/backups/night-2').length).toBe(1);

    s3.objects.set('/restored/other/x', Buffer.from('not of the service'));
    const target = { dataDir: join(makeDirectory(), 'data'), databaseUrl: null };
    const restored = await runCommand(
      'restore',
      { ...variablesOf(target), ...inBucket('restored') },
      's3://backups/night',
    );
    expect([restored.code, restored.stderr]).toEqual([0, expect.any(String)]);
    const [[path = '', content] = []] = stored;
    expect(s3.objects.get(path.replace('/files/', '/restored/'))).toEqual(content);
    const other = { dataDir: join(makeDirectory(), 'data'), databaseUrl: null };
    const full = await runCommand('restore', { ...variablesOf(other), ...inBucket('restored') }, 's3://backups/night');
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('The file storage is not empty')]);
    s3.fail(503);
    const down = await runCommand('backup', env, 'verify', 's3://backups/night');
    expect(down.code).toBe(1);
    expect(down.stderr).not.toContain('at ');
  });
});
