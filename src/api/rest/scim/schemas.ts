/** The URI of the schema of users. */
export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';

/** The URI of the schema of groups. */
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';

interface AttributeOptions {
  readonly type?: 'string' | 'boolean' | 'complex' | 'reference';
  readonly required?: true;
  readonly mutability?: 'readWrite' | 'readOnly' | 'immutable';
  readonly uniqueness?: 'server';
  readonly multiValued?: true;
  readonly caseExact?: true;
  readonly subAttributes?: readonly object[];
  readonly referenceTypes?: readonly string[];
}

const attribute = (name: string, description: string, options: AttributeOptions = {}) => ({
  name,
  description,
  type: options.type ?? 'string',
  multiValued: options.multiValued ?? false,
  required: options.required ?? false,
  caseExact: options.caseExact ?? false,
  mutability: options.mutability ?? 'readWrite',
  returned: 'default',
  uniqueness: options.uniqueness ?? 'none',
  ...(options.subAttributes && { subAttributes: options.subAttributes }),
  ...(options.referenceTypes && { referenceTypes: options.referenceTypes }),
});

const user = {
  id: userSchema,
  name: 'User',
  description: 'A user of the enterprise',
  attributes: [
    attribute('userName', 'The email address of the user.', { required: true, uniqueness: 'server' }),
    attribute('name', 'The name of the user.', {
      type: 'complex',
      subAttributes: [
        attribute('formatted', 'The name for display, unless displayName is sent.'),
        attribute('givenName', 'The given name.'),
        attribute('familyName', 'The family name.'),
      ],
    }),
    attribute('displayName', 'The name for display. Without one, it is made of the given and the family name.'),
    attribute('emails', 'The email address, which is the user name. Other addresses are ignored.', {
      type: 'complex',
      multiValued: true,
      mutability: 'readOnly',
      subAttributes: [
        attribute('value', 'The address.', { mutability: 'readOnly' }),
        attribute('type', 'Always "work".', { mutability: 'readOnly' }),
        attribute('primary', 'Always true.', { type: 'boolean', mutability: 'readOnly' }),
      ],
    }),
    attribute('active', 'Whether the user has access.', { type: 'boolean' }),
  ],
};

const group = {
  id: groupSchema,
  name: 'Group',
  description: 'A group that gives its members roles',
  attributes: [
    attribute('displayName', 'The name, unique in the enterprise.', { required: true, uniqueness: 'server' }),
    attribute('members', 'The users whom directories have added.', {
      type: 'complex',
      multiValued: true,
      subAttributes: [
        attribute('value', 'The id of the user.', { mutability: 'immutable', caseExact: true }),
        attribute('$ref', 'The address of the user.', {
          type: 'reference',
          referenceTypes: ['User'],
          mutability: 'readOnly',
        }),
        attribute('display', 'The email address of the user.', { mutability: 'readOnly' }),
        attribute('type', 'Always "User".', { mutability: 'readOnly' }),
      ],
    }),
  ],
};

/** The schemas of all resources. */
export const schemas: readonly { readonly id: string; readonly name: string; readonly description: string }[] = [
  user,
  group,
];

/** The types of resources. */
export const resourceTypes = schemas.map(({ id, name, description }) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
  id: name,
  name,
  description,
  endpoint: `/${name}s`,
  schema: id,
}));
