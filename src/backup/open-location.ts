import { resolve } from 'node:path';
import type { S3Options } from '../store/file-storage.ts';
import { BackupError } from './backup-error.ts';
import { openDirectoryLocation } from './directory-location.ts';
import type { Location } from './location.ts';

/**
 * Opens the location of a backup: a directory, or `s3://bucket/prefix` in the region and with the keys of the service's own bucket.
 * Sends no request. Throws BackupError if the address is not valid.
 */
export async function openLocation(target: string, s3: S3Options | null): Promise<Location> {
  if (!target.startsWith('s3://')) {
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(target))
      throw new BackupError('A backup is in a directory, or at an address of the form s3://bucket/prefix.');
    return openDirectoryLocation(resolve(target));
  }
  const match =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/([A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*)\/?$/.exec(
      target,
    );
  if (match === null) {
    throw new BackupError(
      'An address of a bucket has the form s3://bucket/prefix, with letters, digits, ".", "_" and "-".',
    );
  }
  if (s3 === null)
    throw new BackupError(
      'An address of a bucket needs the variables of the service: S3_BUCKET, S3_REGION, S3_ENDPOINT and the keys.',
    );
  const [, bucket = '', prefix = ''] = match;
  const { openBucket } = await import('../store/s3.ts');
  const { openBucketLocation } = await import('./bucket-location.ts');
  return openBucketLocation(openBucket({ ...s3, bucket }), prefix, target);
}
