import { coerceInputValue, type GraphQLInputType, type GraphQLSchema } from 'graphql';
import { refuse } from '../../../common/errors.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { deleteSavedView, findSavedViews, type SavedView, setSavedView } from '../../../domain/sessions/saved-views.ts';
import { builder } from '../builder.ts';
import { addMutation, type InputFields } from './add-mutation.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { parseSessionFilter, type SessionFilterValue } from './session-filter.ts';

const SavedViewType = builder.objectRef<SavedView>('SavedView').implement({
  description: 'Filter of the list of sessions that a user or service user saved under a name.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'Name of the view, unique among the views of the viewer in the organization.',
    }),
    filter: t.field({
      type: 'JSON',
      description: 'Filter as it was saved: a value of the input type SessionFilter, for a variable of a query.',
      resolve: ({ filter }) => filter,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the view was first saved.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'Time when the view was last saved.' }),
  }),
});

builder.objectField(Organization, 'savedViews', (t) =>
  t.field({
    type: [SavedViewType],
    ...boundary('viewSession'),
    description: 'Views that the viewer saved in the organization, at most 50, oldest first. Empty for service keys.',
    resolve: async ({ id }, _args, { loaders }) => (await loaders.of(findSavedViews).load(id)) ?? [],
  }),
);

/** Reads a value of the input type SessionFilter. Throws INVALID_INPUT at its path. */
function readFilter(schema: GraphQLSchema, filter: unknown) {
  const type = schema.getType('SessionFilter') as GraphQLInputType;
  const value = coerceInputValue(filter, type, (path, _value, error) => {
    throw refuse(['filter', ...path.map(String)], error.message);
  });
  return parseSessionFilter(value as SessionFilterValue);
}

const oneView = (t: InputFields) => ({
  organizationId: t.id({ required: true, description: 'Global ID or REST id of the organization (`org-…`).' }),
  name: t.string({ required: true, description: 'Name of the view, 1 to 100 characters.' }),
});
const forUsers = 'Service keys get FORBIDDEN without `permission`.';

addMutation('setSavedView', {
  description: `Saves a filter of the list of sessions under a name, for the viewer alone. It replaces the filter that the viewer saved under this name before. A viewer has at most 50 views in an organization. ${forUsers}`,
  needs: ['viewSession'],
  input: (t) => ({
    ...oneView(t),
    filter: t.field({
      type: 'JSON',
      required: true,
      description: 'Filter, a value of the input type SessionFilter, at most 10,000 characters as JSON.',
    }),
  }),
  payload: { savedView: SavedViewType, organization: Organization },
  act: (input, { domain }, _options, { schema }) =>
    setSavedView(ofAnySession(domain, 'view'), { ...input, read: (filter) => readFilter(schema, filter) }),
});

addMutation('deleteSavedView', {
  description: `Deletes the view of a name that the viewer saved. Does nothing if there is none. ${forUsers}`,
  needs: ['viewSession'],
  input: oneView,
  payload: { organization: Organization },
  act: async (input, { domain }) => ({ organization: await deleteSavedView(ofAnySession(domain, 'view'), input) }),
});
