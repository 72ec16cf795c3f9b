import type { Server } from './bench.ts';
import { askOnce, graphqlRequest } from './http.ts';

/** Calls a mutation of a server and returns the selected fields as JSON. Throws the first user error. */
export async function mutate(server: Server, name: string, selection: string, input: object): Promise<any> {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  const document = `mutation($input: ${type}!) { ${name}(input: $input) { ${selection} userErrors { message } } }`;
  const { data, errors } = await askOnce(server.url, graphqlRequest(server.token, document, { input }));
  if (!data) throw new Error(`${name}: ${JSON.stringify(errors)}`);
  const [problem] = data[name].userErrors as { message: string }[];
  if (problem !== undefined) throw new Error(`${name}: ${problem.message}`);
  return data[name];
}
