import type { Config } from '../../config/config.ts';
import { openBucket } from '../../store/s3.ts';
import { type Finding, failure, ok } from './finding.ts';

/** A key that no file has. */
const missingKey = 'switchyard-doctor/missing';

const fixes: Readonly<Record<string, string>> = {
  NoSuchBucket: 'Create the bucket, or correct S3_BUCKET, S3_REGION and S3_ENDPOINT.',
  AccessDenied: 'Allow s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket for this bucket.',
  InvalidAccessKeyId: 'Correct S3_ACCESS_KEY_ID.',
  SignatureDoesNotMatch: 'Correct S3_SECRET_ACCESS_KEY, or S3_REGION.',
  CredentialsProviderError: 'Set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, or give this machine a role.',
};

/** Checks S3_BUCKET by reading a file that does not exist. It writes nothing, so it cannot tell if files can be written. */
export async function checkBucket({ s3 }: Config): Promise<Finding[]> {
  if (s3 === null) return [];
  const at = s3.endpoint === null ? '' : ` at ${new URL(s3.endpoint).host}`;
  try {
    const file = await openBucket(s3).read(missingKey, undefined);
    file?.destroy();
    return [ok('bucket', `${s3.bucket}${at} can be read.`)];
  } catch (error) {
    // The message of a client may quote the request.
    const { name, code } = error as { readonly name?: string; readonly code?: string };
    const reason = code ?? name ?? 'unknown error';
    const fix = fixes[reason] ?? fixes[name ?? ''] ?? 'Check S3_ENDPOINT, and that this host may connect to it.';
    return [failure('bucket', `${s3.bucket}${at} cannot be read (${reason}).`, fix)];
  }
}
