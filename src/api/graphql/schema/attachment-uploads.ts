import { type AttachmentUploadRecord, createAttachmentUpload } from '../../../domain/sessions/attachments/uploads.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { organizationIdDescription } from './scope-input.ts';

const AttachmentUpload = builder.objectRef<AttachmentUploadRecord>('AttachmentUpload').implement({
  description:
    'A signed URL that accepts one file without an API key. Send a POST request with the file as `multipart/form-data` in the field `file`. The JSON response has the `attachment_id` for `attachmentIds`.',
  fields: (t) => ({
    url: t.expose('url', {
      type: 'URI',
      description: 'Signed URL for the upload. Everyone who has the URL can use it to upload one file.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'Time when the URL expires, which is ten minutes after its creation.',
    }),
    maxBytes: t.exposeInt('maxBytes', { description: 'Maximum size of the file in bytes.' }),
  }),
});

addMutation('createAttachmentUpload', {
  description: 'Creates a signed URL to which one file can be uploaded on behalf of the viewer.',
  needs: ['uploadAttachment'],
  input: (t) => ({ organizationId: t.id({ description: organizationIdDescription }) }),
  takes: 'idempotencyKey',
  payload: {
    attachmentUpload: {
      type: AttachmentUpload,
      description: 'Upload URL that was created, with its expiry time and size limit. Null if there are user errors.',
    },
  },
  act: async (input, { domain }, options) => ({
    attachmentUpload: await createAttachmentUpload(domain, input.organizationId, options),
  }),
});
