import type { Readable } from 'node:stream';
import { GetObjectCommand, NoSuchKey, S3Client } from '@aws-sdk/client-s3';
import { Disk } from 'flydrive';
import { S3Driver } from 'flydrive/drivers/s3';
import type { FileStorage, S3Options } from './file-storage.ts';

/** Opens a bucket as file storage. Loaded only if a bucket is configured. */
export function openBucket({ bucket, region, endpoint, credentials }: S3Options): FileStorage {
  const client = new S3Client({
    region,
    ...(credentials ? { credentials } : {}),
    // S3-compatible servers rarely have a host name per bucket, or support the newer checksums.
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // `socketTimeout`: without a byte in either direction.
    requestHandler: { connectionTimeout: 5_000, socketTimeout: 20_000 },
    maxAttempts: 3,
    // Errors are thrown and logged by the caller; the client would write to the console.
    logger: { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore },
  });
  return {
    // Buckets have no access lists by default; content is private by default and stays so.
    disk: new Disk(new S3Driver({ client, bucket, visibility: 'private', supportsACL: false })),
    async read(key, range) {
      const Range = range ? `bytes=${range.start}-${range.end}` : undefined;
      const command = new GetObjectCommand({ Bucket: bucket, Key: key, ...(Range ? { Range } : {}) });
      const answer = await client.send(command).catch((error: unknown) => {
        if (error instanceof NoSuchKey) return null;
        throw error;
      });
      return (answer?.Body as Readable | undefined) ?? null;
    },
  };
}

function ignore(): void {}
