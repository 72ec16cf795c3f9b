import { sendFile as texts } from '../texts/uploads.ts';
/** The reason why an upload failed, as a message for the user. */
export class UploadError extends Error {}

/**
 * Uploads a file to a signed URL of this service and resolves to the attachment's id. Not with fetch, which does not
 * report upload progress. Rejects with an {@link UploadError}, also when `signal` aborts it.
 */
export function sendFile(
  url: string,
  file: File,
  options: { readonly signal: AbortSignal; readonly onProgress: (sentBytes: number) => void },
): Promise<string> {
  return new Promise((resolve, reject) => {
    // Relative to this page's origin, whatever host name the service uses: the content security policy allows no other.
    const { pathname, search } = new URL(url);
    const request = new XMLHttpRequest();
    const form = new FormData();
    form.append('file', file, file.name);
    request.open('POST', pathname + search);
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded }) => options.onProgress(Math.min(loaded, file.size));
    request.onload = () => {
      const { 'attachment_id': id, detail } = (request.response ?? {}) as {
        'attachment_id'?: unknown;
        detail?: unknown;
      };
      if (request.status === 200 && typeof id === 'string') return resolve(id);
      reject(new UploadError(typeof detail === 'string' ? detail : texts.unexpectedStatus({ status: request.status })));
    };
    request.onerror = () => reject(new UploadError('The upload failed. Check the connection and the file.'));
    request.onabort = () => reject(new UploadError('The upload was cancelled.'));
    options.signal.addEventListener('abort', () => request.abort());
    request.send(form);
  });
}
