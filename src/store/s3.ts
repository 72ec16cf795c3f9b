import type { Readable } from 'node:stream';
import { GetObjectCommand, NoSuchKey, S3Client } from '@aws-sdk/client-s3';
import { Disk } from 'flydrive';
import { S3Driver } from 'flydrive/drivers/s3';
import type { FileStorage, S3Options } from './file-storage.ts';

/** Files in a bucket. Loaded only where there is one. */
export function openBucket({ bucket, region, endpoint, credentials }: S3Options): FileStorage {
  const client = new S3Client({
    region,
    ...(credentials ? { credentials } : {}),
    // What speaks like S3 under an address of its own has seldom a name for each bucket, or the newer checksums.
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // The second: without a byte in either direction.
    requestHandler: { connectionTimeout: 5_000, socketTimeout: 20_000 },
    maxAttempts: 3,
    // What fails is thrown and logged by whoever asked; the client would write to the console.
    logger: { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore },
  });
  return {
    // Buckets have no access lists any more unless asked for; what is private by default stays so.
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
