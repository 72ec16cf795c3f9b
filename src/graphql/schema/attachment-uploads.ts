import { type AttachmentUploadRecord, createAttachmentUpload } from '../../domain/attachments/uploads.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';
import { organizationIdDescription } from './places.ts';

const AttachmentUpload = builder.objectRef<AttachmentUploadRecord>('AttachmentUpload').implement({
  description:
    'An address that takes one file, without a key: POST it as multipart/form-data in the field "file". The answer is JSON with the attachment_id for attachmentIds.',
  fields: (t) => ({
    url: t.expose('url', { type: 'URI', description: 'The signed address. Whoever has it may upload one file.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when: ten minutes from now.' }),
    maxBytes: t.exposeInt('maxBytes', { description: 'The largest file that it takes.' }),
  }),
});

const CreateAttachmentUploadInput = builder.inputType('CreateAttachmentUploadInput', {
  description: 'Where a file is to go.',
  fields: (t) => ({
    organizationId: t.id({ description: organizationIdDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

interface Made {
  readonly attachmentUpload: AttachmentUploadRecord;
}

const CreateAttachmentUploadPayload = payloadType<Made>(
  'CreateAttachmentUploadPayload',
  'An address that takes a file.',
  (t) => ({
    attachmentUpload: t.expose('attachmentUpload', {
      type: AttachmentUpload,
      nullable: true,
      description: 'The address.',
    }),
  }),
);

addMutation('createAttachmentUpload', {
  input: CreateAttachmentUploadInput,
  payload: CreateAttachmentUploadPayload,
  needs: ['uploadAttachment'],
  description: 'Gives an address to which one file may be uploaded, in the caller’s name.',
  act: async (input, context) => ({
    attachmentUpload: await createAttachmentUpload(context.domain, input.organizationId),
  }),
});
