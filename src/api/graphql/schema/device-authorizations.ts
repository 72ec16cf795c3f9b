import {
  approveDeviceAuthorization,
  type DeviceAuthorization as DeviceAuthorizationRecord,
  denyDeviceAuthorization,
  findDeviceAuthorization,
} from '../../../domain/identity/device-authorizations/decide-authorization.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { ApiKey } from './api-keys.ts';

const DeviceAuthorization = builder.objectRef<DeviceAuthorizationRecord>('DeviceAuthorization').implement({
  description: 'A program, such as the command line, that waits for a person to approve its access (RFC 8628).',
  fields: (t) => ({
    clientName: t.exposeString('clientName', {
      description: 'Name that the program gives itself. The service cannot verify it.',
    }),
    address: t.exposeString('address', {
      nullable: true,
      description: 'Network address from which the program asked. Null if it is unknown.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the program asked.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'Time until which the program waits.',
    }),
  }),
});

const userCodeDescription = 'Code that the program shows, such as `WDJB-MJHT`. Case and separators don’t matter.';

builder.queryField('deviceAuthorization', (t) =>
  t.field({
    type: DeviceAuthorization,
    nullable: true,
    description:
      'Finds the program that waits with a code. Null if there is none, or if it has expired or was approved or refused. A service key may not read it.',
    args: { userCode: t.arg.string({ required: true, description: userCodeDescription }) },
    resolve: (_root, { userCode }, { domain }) => findDeviceAuthorization(domain, userCode),
  }),
);

addMutation('approveDeviceAuthorization', {
  description:
    'Gives the program that waits with a code a key that acts as the viewer: a personal access token of a user, or a key of a service user. The program alone gets the token. Approve only a program that you started yourself.',
  needs: [],
  input: (t) => ({
    userCode: t.string({ required: true, description: userCodeDescription }),
    expiresAt: t.field({
      type: 'DateTime',
      description:
        'Time when the token expires. Must be in the future and not after the expiry of the viewer’s own key. Null if the token does not expire.',
    }),
  }),
  payload: { apiKey: { type: ApiKey, description: 'Key of the program. Null if there are user errors.' } },
  act: async (input, { domain }) => ({ apiKey: await approveDeviceAuthorization(domain, input) }),
});

addMutation('denyDeviceAuthorization', {
  description: 'Refuses the program that waits with a code. It stops waiting.',
  needs: [],
  input: (t) => ({ userCode: t.string({ required: true, description: userCodeDescription }) }),
  payload: {
    isDenied: { type: 'Boolean', description: 'Whether the program was refused. Null if there are user errors.' },
  },
  act: async ({ userCode }, { domain }) => {
    await denyDeviceAuthorization(domain, userCode);
    return { isDenied: true };
  },
});
